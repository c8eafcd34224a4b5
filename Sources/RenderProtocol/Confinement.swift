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
            self.reason = reason
        }
    }

    /// What is not in force.
    public let gaps: [Gap]

    /// Makes a record.
    public init(gaps: [Gap] = []) { self.gaps = gaps }

    /// Whether a measure is in force.
    public func has(_ measure: Measure) -> Bool { !gaps.contains { $0.measure == measure } }
}
