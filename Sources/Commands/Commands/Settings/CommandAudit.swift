import Glibc
import JobQueue
import Operations
import Redis
import Telemetry

/// The entries of the audit log for what operators change by commands, so that `/audit` shows all changes.
///
/// A command has the password of a user of Redis and no key. The person is who the machine says runs it; who has the password could
/// write another name.
struct CommandAudit: Sendable {
    private let redis: RedisClient
    private let queue: QueueName

    init(_ redis: RedisClient, _ queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// Writes what the command did. The change is made already, so an error is told and does not fail the command.
    func note(_ action: String, _ detail: String) async {
        do {
            let keys = try await GatewayRecords(redis: redis, queue: queue).keys()
            try await AuditStream(redis: redis, at: keys).add(
                action, detail,
                by: .init(key: AuditStream.Actor.command, label: "minilab", person: Self.person),
                of: nil)
        } catch {
            StandardError.write(
                "the change is made, and could not be written to the audit log: \(error)")
        }
    }

    /// The user of this process, and the machine: `ana@lab-1`. Under sudo it is the user who called it.
    private static var person: String {
        let user =
            getenv("SUDO_USER").map { String(cString: $0) } ?? name(of: geteuid()) ?? "\(geteuid())"
        var host = [CChar](repeating: 0, count: 256)
        guard gethostname(&host, host.count - 1) == 0 else { return user }
        return host.withUnsafeBufferPointer { "\(user)@\(String(cString: $0.baseAddress!))" }
    }

    private static func name(of user: uid_t) -> String? {
        guard let entry = getpwuid(user), let name = entry.pointee.pw_name else { return nil }
        return String(cString: name)
    }
}
