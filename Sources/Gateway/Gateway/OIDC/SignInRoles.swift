import AccessKeys
package import Edits

/// The keys that people act with, by their claims at the provider: pairs of a value of the claim and the id of a key.
///
/// The key defines scopes, tenant, prefix, quotas and expiry, so a person's rights change and expire like a client's.
package struct SignInRoles: Sendable, Equatable {
    /// One pair.
    package struct Role: Sendable, Equatable {
        /// A value of the claim, such as the name of a group.
        package let group: String
        /// The id of the key.
        package let keyID: String
    }

    /// The pairs. The first match counts.
    package let roles: [Role]

    /// The most pairs.
    static let rolesMax = 200

    /// Parses `photo-ops=7kq2m9xw4bnc,lab=…`.
    ///
    /// A group may contain commas and equals signs, as directory names do, so a pair ends where the id of a key ends.
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

    /// Returns the first role that matches one of the groups.
    func role(of groups: [String]) -> Role? {
        roles.first { role in
            groups.contains { $0.utf8.elementsEqual(role.group.utf8) }
        }
    }
}
