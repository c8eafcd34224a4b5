import CMinilab
import Glibc
import RenderProtocol

/// A user and a group that own nothing, for a process that renders a photo. Other children have other users, and no file of the
/// machine belongs to this user.
struct OwnUser: Equatable {
    /// The user id and the group id.
    let number: UInt32

    /// Ids that systemd (UIDS-GIDS.md: "unused") and Debian (policy 9.2.2: "reserved") assign to no user, and that a container with
    /// 65,536 users has.
    static let range: ClosedRange<UInt32> = 60_600...61_183

    /// Selects the user of a process.
    ///
    /// - Parameter serial: the number of the process among those of its worker. Users repeat after as many processes as the range
    ///   has ids.
    init(serial: Int) {
        let slot = UInt32(serial.magnitude % UInt(Self.range.count))
        number = Self.range.lowerBound + slot
    }

    /// Switches to this user, without supplementary groups. Root only.
    func enter() throws(SystemRefusal) {
        // By user: two children may have the same one.
        try ProcessTraits.limitThreads(to: 2 * Confinement.threadsMax)
        try SystemRefusal.check(minilab_become(number), "setresuid \(number)")
    }
}
