import CConfinement
import Glibc

/// A user and a group that own nothing, for a process that serves a photo: other children are of other users, and
/// no file of the machine is theirs.
struct OwnUser: Equatable {
    /// Of user and group.
    let number: UInt32

    /// Numbers that systemd (UIDS-GIDS.md: "unused") and Debian (policy 9.2.2: "reserved") give to nobody, and
    /// which a container of 65,536 users has.
    static let range: ClosedRange<UInt32> = 60_600...61_183

    /// The user of a process.
    ///
    /// - Parameter serial: of the process among those of its worker; as many as the range has are told apart.
    init(serial: Int) {
        let slot = UInt32(serial.magnitude % UInt(Self.range.count))
        number = Self.range.lowerBound + slot
    }

    /// Becomes it, with no other group. Root only.
    func enter() throws(SystemRefusal) {
        try SystemRefusal.check(minilab_become(number), "setresuid \(number)")
    }
}
