import AccessKeys
import ArgumentParser
import JobQueue
import Redis

/// `minilab key`.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Makes, lists and revokes the keys of the gateway's clients.",
        discussion: """
            A key belongs to one tenant and a folder of assets, or to the operator. Redis keeps a digest of its secret.

            Example:
              minilab key create --tenant acme --prefix acme/ --scope enqueue,read
              minilab key list
              minilab key revoke 7fq2m0x9ab3c
            """,
        subcommands: [
            KeyCreateCommand.self, KeyListCommand.self, KeyRevokeCommand.self,
        ])
}

extension QueueOptions {
    /// Opens the key store of the queue for one command.
    func withKeys<Result: Sendable>(
        _ body: (KeyStore) async throws -> Result
    ) async throws -> Result {
        try await withQueue { queue, redis in
            try await body(KeyStore(redis: redis, queue: queue.name))
        }
    }
}
