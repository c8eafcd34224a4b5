import AccessKeys
import Edits
import ArgumentParser
import Operations
import FoundationEssentials

/// `minilab key list`.
struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys, ended ones too, without their secrets.",
        discussion: """
            Example:
              minilab key list
              minilab key list --tenant acme --json
            """)

    @Option(help: "Only those of this tenant.") var tenant: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let keys = try await queueOptions.withKeys { try await $0.list() }
            .filter { tenant == nil || $0.tenant?.string == tenant }
        if json { return try printJSON(keys) }
        let now = Int(Date.now.timeIntervalSince1970 * 1000)
        var table = TextTable([
            "key", "state", "tenant", "prefix", "scopes", "made", "ends", "label",
        ])
        for key in keys {
            table.add([
                key.id, key.state(at: now).rawValue, key.tenant?.string ?? "(operator)",
                key.assetPrefix.string.isEmpty ? "(all)" : key.assetPrefix.string,
                key.scopes.sorted().map(\.rawValue).joined(separator: ","), date(key.createdAt),
                key.expiresAt.map(date) ?? "never", key.label,
            ])
        }
        print(block: table.text)
    }
}
