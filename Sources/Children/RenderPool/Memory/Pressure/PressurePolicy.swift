/// The pressure level that a reading requires.
///
/// | level | stalled (PSI `some`) | memory left below the limit, less than the smaller of |
/// |---|---|---|
/// | holding | 5 % | 12 % and 1 GB |
/// | shrinking | 10 % | 8 % and 512 MB |
/// | pausing | 20 %, or the kernel has killed a process | 5 % and 256 MB |
/// | requeueing | `pausing` required for 3 s | 2 % and 64 MB |
///
/// The shares of time are those at which Facebook's oomd and senpai begin to act on containers that must stay fast.
/// At the point where systemd-oomd kills, 60 % for 30 s, renders already take many times as long. The memory left
/// is about the need of one or two renders of a phone photo (50 MB each). In large groups and machines it is
/// bounded in bytes, so that gigabytes are not left unused.
struct PressurePolicy: Sendable, Equatable {
    /// The share of time, from 0 to 1, in which some task waits for memory, from which on `holding` is required.
    /// Twice the share requires `shrinking`, four times the share `pausing`.
    var stall = 0.05

    /// The factor by which the share over the last second must exceed the threshold to take effect immediately. The
    /// kernel's average over 10 s reaches a third of a lasting stall only after 4 s. At 3 the immediate threshold
    /// is 15 %, the example trigger of the kernel's own documentation (`Documentation/accounting/psi.rst`: "some
    /// 150000 1000000").
    static let atOnce = 3.0
    /// A reached level is kept while the stall exceeds this fraction of the level's share.
    static let keptStall = 0.5
    /// A reached level is kept while less than this multiple of the level's remainder is left.
    static let keptLeft = 1.5
    /// While the limit is being hit, the memory left is multiplied by this factor.
    static let hitLeft = 2.0 / 3

    /// Returns the required level.
    func wanted(_ signs: PressureSigns) -> PressureLevel {
        let stalled = highest { level in
            guard let share = share(level) else { return false }
            return signs.stalledNow >= share * Self.atOnce
                || (signs.stalledNow >= share && signs.stalled10 >= share)
        }
        return max(stalled, byRest(signs, 1), signs.kills > 0 ? .pausing : .calm)
    }

    /// Returns the level that is kept if it was reached before: at least as high as ``wanted(_:)``.
    func kept(_ signs: PressureSigns) -> PressureLevel {
        let stalled = highest { level in
            share(level).map { signs.stalledNow >= $0 * Self.keptStall } ?? false
        }
        return max(stalled, byRest(signs, Self.keptLeft), wanted(signs))
    }

    private func byRest(_ signs: PressureSigns, _ factor: Double) -> PressureLevel {
        guard let bound = signs.bound else { return .calm }
        let left = Double(bound.left) * (signs.hitLimit ? Self.hitLeft : 1)
        return highest { level in
            Self.rest(level, of: bound.limit).map { left < $0 * factor } ?? false
        }
    }

    private func highest(_ isCalledFor: (PressureLevel) -> Bool) -> PressureLevel {
        PressureLevel.allCases.last(where: isCalledFor) ?? .calm
    }

    private func share(_ level: PressureLevel) -> Double? {
        switch level {
        case .calm, .requeueing: nil
        case .holding: stall
        case .shrinking: stall * 2
        case .pausing: stall * 4
        }
    }

    private static func rest(_ level: PressureLevel, of limit: Int) -> Double? {
        let (part, bytes): (Double, Int)
        switch level {
        case .calm: return nil
        case .holding: (part, bytes) = (0.12, 1 << 30)
        case .shrinking: (part, bytes) = (0.08, 512 << 20)
        case .pausing: (part, bytes) = (0.05, 256 << 20)
        case .requeueing: (part, bytes) = (0.02, 64 << 20)
        }
        return min(Double(bytes), Double(limit) * part)
    }
}
