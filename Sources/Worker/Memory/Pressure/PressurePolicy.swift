/// Which level what was read calls for.
///
/// | level | stalled (PSI `some`) | left below the limit, less than the smaller of |
/// |---|---|---|
/// | holding | 5 % | 12 % and 1 GB |
/// | shrinking | 10 % | 8 % and 512 MB |
/// | pausing | 20 %, or the kernel has killed | 5 % and 256 MB |
/// | requeueing | pausing called for during 3 s | 2 % and 64 MB |
///
/// The shares of time are those at which Facebook's oomd and senpai begin to act on containers that have to stay fast; by
/// the time that systemd-oomd kills, at 60 % for 30 s, renders take many times as long. The rest to the limit is about what
/// one to two renders of a phone photo (50 MB each) still take, and in large groups and machines a bound in bytes, so that
/// they do not leave gigabytes unused.
struct PressurePolicy: Sendable, Equatable {
    /// Share of time, from 0 to 1, in which some task waits for memory, that calls for `holding`; twice for `shrinking`,
    /// four times for `pausing`.
    var stall = 0.05

    /// The kernel's average over 10 s comes to a third of a lasting stall only after 4 s. So three times the share over
    /// the last second counts at once: 15 %, the trigger that the kernel's own documentation takes as its example
    /// (`Documentation/accounting/psi.rst`: "some 150000 1000000").
    static let atOnce = 3.0
    /// A level that has been reached is kept down to this part of its share, …
    static let keptStall = 0.5
    /// … and while less than so many times its rest is left.
    static let keptLeft = 1.5
    /// While the limit is being hit, what is left counts for this part of itself.
    static let hitLeft = 2.0 / 3

    /// The level that is called for.
    func wanted(_ signs: PressureSigns) -> PressureLevel {
        let stalled = highest { level in
            guard let share = share(level) else { return false }
            return signs.stalledNow >= share * Self.atOnce
                || (signs.stalledNow >= share && signs.stalled10 >= share)
        }
        return max(stalled, byRest(signs, 1), signs.kills > 0 ? .pausing : .calm)
    }

    /// The level that is kept when it has been reached before: at least as high as ``wanted(_:)``.
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
