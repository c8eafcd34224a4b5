import Edits

/// The holders of the places in a pool that tenants share: none can use up what the others need.
///
/// A tenant gets a further place while it holds fewer than there are free. Alone it reaches a half of the pool, beside one other a
/// third; some places are always free for a tenant that holds none. Source: the dynamic thresholds of switches with a shared
/// memory (Choudhury and Hahne, 1998), with α = 1. Rejected: a fixed part for each, which a few tenants together fill, and which
/// leaves a lone tenant with a fraction of an idle pool.
///
/// A pure value.
package struct FairShare: Sendable {
    /// The owner of places.
    package enum Owner: Sendable, Hashable {
        /// An operator, who may also use the reserve and has no share.
        case `operator`
        case tenant(String)
        /// A caller of whom nothing but the address is known.
        case address(String)
    }

    /// The sizes of a pool.
    package struct Limits: Sendable {
        /// The places of all owners together.
        package var all: Int
        /// The places that only operators get.
        package var reserve: Int
        /// The most places of one tenant, however many are free.
        package var ofTenantMax: Int

        package init(all: Int, reserve: Int = 0, ofTenantMax: Int = .max) {
            (self.all, self.reserve, self.ofTenantMax) = (max(1, all), reserve, ofTenantMax)
        }
    }

    package let limits: Limits
    private var held: [Owner: Int] = [:]
    /// The number of taken places.
    package private(set) var count = 0

    package init(_ limits: Limits) { self.limits = limits }

    /// Returns the number of places that an owner holds.
    package func held(by owner: Owner) -> Int { held[owner, default: 0] }

    /// Returns whether an owner may take a place now.
    package func hasRoom(for owner: Owner) -> Bool {
        if case .operator = owner { return count < limits.all }
        let mine = held(by: owner)
        return mine < limits.ofTenantMax && mine < limits.all - limits.reserve - count
    }

    /// Takes a place if the owner may have one.
    package mutating func take(_ owner: Owner) -> Bool {
        guard hasRoom(for: owner) else { return false }
        held[owner, default: 0] += 1
        count += 1
        return true
    }

    /// Gives a taken place back.
    package mutating func giveBack(_ owner: Owner) {
        guard let mine = held[owner] else { return }
        held[owner] = mine > 1 ? mine - 1 : nil
        count -= 1
    }
}

extension AccessKey {
    /// The owner of what requests with this key hold.
    package var owner: FairShare.Owner {
        terms.tenant.map { .tenant($0.string) } ?? .operator
    }
}
