import AccessKeys
package import Adjustments

/// The keys that people act with, by what their provider says of them: pairs of a value of the claim and the id of a key.
///
/// Scopes, tenant, prefix, quotas and the end are the key's, so a person's rights change and end as a client's do.
package struct SignInRoles: Sendable, Equatable {
    /// One pair.
    package struct Role: Sendable, Equatable {
        /// A value of the claim, such as the name of a group.
        package let group: String
        /// The id of the key.
        package let keyID: String
    }

    /// The pairs, the one that is taken first in front.
    package let roles: [Role]

    /// Most pairs.
    static let rolesMax = 200

    /// Reads `photo-ops=7kq2m9xw4bnc,lab=…`.
    ///
    /// A group may have commas and equals signs in it, as names in directories do: a pair ends where the id of a key does.
    ///
    /// - Throws: `invalidValue`.
    package init(_ text: String) throws(Failure) {
        var roles: [Role] = []
        var begun: String?
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = begun.map { $0 + "," + piece } ?? String(piece)
            begun = pair
            guard let sign = pair.lastIndex(of: "="), sign > pair.startIndex else { continue }
            let keyID = String(pair[pair.index(after: sign)...])
            guard KeyText.isID(keyID) else { continue }
            roles.append(Role(group: String(pair[..<sign]), keyID: keyID))
            begun = nil
        }
        guard begun == nil, roles.count <= Self.rolesMax else {
            throw Failure(
                .invalidValue,
                "\(String((begun ?? text).prefix(200)).debugDescription.printable) is no role; expected GROUP=KEY with the "
                    + "id of a key as minilab key list shows it, \(Self.rolesMax) of them at most.")
        }
        self.roles = roles
    }

    /// The first role that one of the groups has.
    func role(of groups: [String]) -> Role? {
        roles.first { role in
            groups.contains { $0.utf8.elementsEqual(role.group.utf8) }
        }
    }
}
