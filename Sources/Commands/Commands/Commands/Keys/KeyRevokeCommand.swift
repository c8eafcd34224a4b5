import AccessKeys
import ArgumentParser

/// `minilab key revoke`.
struct KeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes keys: every gateway refuses them within a second.",
        discussion: """
            Ends with 1 when one of them does not exist. Revoking twice changes nothing.

            Example:
              minilab key revoke 7fq2m0x9ab3c
            """)

    @Argument(help: "Ids of keys, as minilab key list shows them.") var keys: [String]
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard !keys.isEmpty else { throw ValidationError("name a key; minilab key list has them.") }
        // An argument that is a whole key instead of its id must not be printed.
        guard keys.allSatisfy(KeyText.isID) else {
            throw ValidationError(
                "an id of a key has 12 digits and lower-case letters; minilab key list has them.")
        }
    }

    func run() async throws {
        let revoked = try await queueOptions.withKeys { store in
            var revoked: [String: AccessKey] = [:]
            for id in keys { revoked[id] = try await store.revoke(id) }
            return revoked
        }
        if json {
            try printJSON(keys.compactMap { revoked[$0] })
        } else {
            for id in keys {
                print(revoked[id] == nil ? "\(id): there is no such key" : "\(id): revoked")
            }
        }
        if revoked.count < Set(keys).count { throw ExitCode(1) }
    }
}
