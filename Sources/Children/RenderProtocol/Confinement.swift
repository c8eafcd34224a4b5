/// The confinement of a render child: the measures that prevent harm if a photo takes over its decoder.
public struct Confinement: Sendable, Codable, Equatable {
    /// A measure that restricts a child.
    public enum Measure: String, Sendable, Codable, CaseIterable {
        /// The child opens only the files passed to it and those of the system. By Landlock, Linux 5.13.
        case files
        /// The child cannot reach the network. By Landlock, Linux 6.7, in addition to `calls`.
        case network
        /// The child cannot send signals to other processes. By Landlock, Linux 6.12, in addition to `calls`.
        case signals
        /// The child cannot make system calls that rendering does not need: start programs, open sockets. By seccomp.
        case calls
        /// The child cannot gain privileges, or use those of root. By `no_new_privs` and capset(2).
        case privileges
        /// The child cannot outlive its worker while it is stopped, be dumped, or keep the kernel from choosing it first when
        /// memory is short.
        case process
        /// The child has another user than the worker and the other children. By setresuid(2), if the worker is root.
        case ownUser
        /// The child cannot see names and sizes of other files. By a mount namespace whose root contains only the system's
        /// libraries.
        case mountNamespace
        /// The child cannot see network interfaces and local sockets. By an empty network namespace.
        case networkNamespace
        /// The child cannot share memory or queues with other processes through names of System V and POSIX. By an IPC
        /// namespace.
        case ipcNamespace
    }

    /// A measure that is not in force, with the reason.
    public struct Gap: Sendable, Codable, Equatable {
        public let measure: Measure
        /// The kernel's error, for people.
        public let reason: String

        public init(_ measure: Measure, _ reason: String) {
            self.measure = measure
            self.reason = ReplyBounds.text(reason)
        }
    }

    /// The most threads of a child. A render on eight cores, the most that one photo gets, has 20 (JPEG XL).
    public static let threadsMax = 64

    /// The measures that are not in force.
    public let gaps: [Gap]

    public init(gaps: [Gap] = []) { self.gaps = gaps }

    public func has(_ measure: Measure) -> Bool { !gaps.contains { $0.measure == measure } }
}

extension Confinement {
    /// The measures without which a photo that takes over a decoder can do harm. All others are a second line of defence, and many
    /// machines lack some: namespaces need a kernel and a container that permit them, `ownUser` needs root, `network` and
    /// `signals` are covered by `calls`.
    public static let required: Set<Measure> = [.files, .calls, .privileges, .process]

    /// The reason why untrusted photos must not be rendered on this machine; nil if they may be.
    public var shortfall: Shortfall? {
        let missing = gaps.filter { Self.required.contains($0.measure) }
        return missing.isEmpty ? nil : Shortfall(gaps: missing)
    }

    /// The required measures that are not in force.
    public struct Shortfall: Error, Sendable, Equatable, CustomStringConvertible {
        /// The measures, each with its reason; at least one.
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
