/// What keeps a render child from doing harm when a photo takes over its decoder.
public struct Confinement: Sendable, Codable, Equatable {
    /// One thing that a child cannot do.
    public enum Measure: String, Sendable, Codable, CaseIterable {
        /// Open files but those it was given and those of the system. By Landlock, Linux 5.13.
        case files
        /// Reach the network. By Landlock, Linux 6.7, besides `calls`.
        case network
        /// Send signals to others. By Landlock, Linux 6.12, besides `calls`.
        case signals
        /// Make any system call that rendering does not need: start programs, open sockets. By seccomp.
        case calls
        /// Gain rights, or use those of root. By `no_new_privs` and capset(2).
        case privileges
        /// Outlive its worker while it is stopped, be dumped, keep the kernel from choosing it first when memory
        /// is short.
        case process
        /// Be the user that the worker and other children are. By setresuid(2), when the worker is root.
        case ownUser
        /// See names and sizes of other files. By a mount namespace whose root has the system's libraries alone.
        case mountNamespace
        /// See network interfaces and local sockets. By an empty network namespace.
        case networkNamespace
        /// Share memory or queues with other processes by System V's and POSIX' names. By an IPC namespace.
        case ipcNamespace
    }

    /// A measure that is not in force, and why.
    public struct Gap: Sendable, Codable, Equatable {
        /// What is missing.
        public let measure: Measure
        /// What the kernel said, for people.
        public let reason: String

        /// Makes a gap.
        public init(_ measure: Measure, _ reason: String) {
            self.measure = measure
            self.reason = ReplyBounds.text(reason)
        }
    }

    /// What is not in force.
    public let gaps: [Gap]

    /// Makes a record.
    public init(gaps: [Gap] = []) { self.gaps = gaps }

    /// Whether a measure is in force.
    public func has(_ measure: Measure) -> Bool { !gaps.contains { $0.measure == measure } }
}

extension Confinement {
    /// The measures without which a decoder that a photo has taken over can do harm. All others make a second
    /// wall, and many a machine lacks some: namespaces need a kernel and a container that grant them, `ownUser` needs
    /// root, `network` and `signals` are covered by `calls`.
    public static let required: Set<Measure> = [.files, .calls, .privileges, .process]

    /// Why strangers' photos must not be rendered here; nil when they may.
    public var shortfall: Shortfall? {
        let missing = gaps.filter { Self.required.contains($0.measure) }
        return missing.isEmpty ? nil : Shortfall(gaps: missing)
    }

    /// Required measures that are not in force.
    public struct Shortfall: Error, Sendable, Equatable, CustomStringConvertible {
        /// Each with its reason; at least one.
        public let gaps: [Gap]

        public var description: String {
            let list = gaps.map { "\($0.measure.rawValue) (\($0.reason))" }
            return
                "Render children are not confined on this machine: \(list.joined(separator: ", ")); "
                + "\(Confinement.required.map(\.rawValue).sorted().joined(separator: ", ")) are required. "
                + "Nothing is rendered. Use Linux 5.13 or later with Landlock and seccomp, let the container "
                + "make those calls, or set --require-confinement false where all photos are your own."
        }
    }
}
