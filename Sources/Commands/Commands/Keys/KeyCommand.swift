import AccessKeys
import ArgumentParser
import Edits
import FoundationEssentials
import JobQueue
import Operations
import Redis
import Telemetry

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Makes, lists, changes, revokes gateway clients' keys.",
        discussion: """
            A key belongs to one tenant and a folder of assets, or to the operator. Redis keeps a digest of its secret.

            Example:
              minilab key create --tenant acme --prefix acme/ --scope enqueue,read
              minilab key list
              minilab key set 7fq2m0x9ab3c --backlog 50000
              minilab key revoke 7fq2m0x9ab3c
            """,
        subcommands: [
            KeyCreateCommand.self, KeyListCommand.self, KeySetCommand.self, KeyRevokeCommand.self,
        ])
}

extension QueueOptions {
    /// Opens the key store of the queue for one command that only looks.
    func withKeysToRead<Result: Sendable>(
        _ body: (KeyStore) async throws -> Result
    ) async throws -> Result {
        try await withQueue { queue, redis in
            let keys = try await GatewayRecords(queue).keysToRead()
            return try await body(KeyStore(redis: redis, queue: queue.name, at: keys))
        }
    }

    /// Opens the key store of the queue, and its audit log, for one command.
    func withKeys<Result: Sendable>(
        _ body: (KeyStore, CommandAudit) async throws -> Result
    ) async throws -> Result {
        try await withQueue { queue, redis in
            let keys = try await GatewayRecords(queue).keys()
            return try await body(
                KeyStore(redis: redis, queue: queue.name, at: keys),
                CommandAudit(redis, queue.name))
        }
    }
}

struct KeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes a key and prints it, once.",
        discussion: """
            Scopes: enqueue (add and cancel jobs, originals, webhooks of its own), read (its own jobs, events and \
            photos), operate (control the queue), admin (keys, doctor). No scope includes another one.

            With --json, the key is in field secret.

            Example:
              minilab key create --tenant acme --prefix acme/ --scope enqueue,read \\
                --label "shop, live" --expires 90d
              minilab key create --tenant acme --prefix acme/ --scope enqueue \\
                --backlog 50000 --rate 20 --burst 100
              minilab key create --operator --scope read,operate,admin \\
                --label Ana --expires 365d
            """)

    @Option(help: "The tenant of its jobs; a name without a dot.") var tenant: String?
    @Flag(name: .customLong("operator"), help: "Make an operator's key, for all tenants.")
    var isOperator = false
    @Option(
        help: ArgumentHelp(
            "The folder of its assets, as in acme/ (default: all assets, which only --operator may have).",
            valueName: "folder"))
    var prefix: String?
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Its scopes: enqueue, read, operate, admin; several with commas.",
            valueName: "scopes"))
    var scope: [String]
    @Option(help: "A name for people.") var label = ""
    @Option(
        help: ArgumentHelp("When it ends, from now: 90d, 12h (default: never).", valueName: "time"))
    var expires: String?
    @Option(help: ArgumentHelp("Maximum number of jobs that have not ended.", valueName: "jobs"))
    var backlog: Int?
    @Option(
        help: ArgumentHelp(
            "Maximum number of requests per second; a body counts as one for each 4 KB.",
            valueName: "requests"))
    var rate: Int?
    @Option(help: ArgumentHelp("Maximum burst of requests; needs --rate.", valueName: "requests"))
    var burst: Int?
    @Option(
        name: .customLong("upload-per-day"),
        help: ArgumentHelp("Bytes of originals a day, such as 20G.", valueName: "bytes"))
    var uploadPerDay: String?
    @Option(
        help: ArgumentHelp(
            "Bytes of Redis that the tenant's jobs and batches take, such as 200M.",
            valueName: "bytes"))
    var stored: String?
    @Option(
        name: .customLong("cors-origin"),
        help: ArgumentHelp(
            "Pages of this origin may use it, as in https://photos.example; repeat it for more.",
            valueName: "origin"))
    var corsOrigins: [String] = []
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard isOperator == (tenant == nil) else {
            throw ValidationError("give --tenant, or --operator for a key of all tenants.")
        }
        guard isOperator || !(prefix ?? "").isEmpty else {
            throw ValidationError(
                "a tenant's key needs --prefix, the folder of its assets, as in --prefix acme/.")
        }
    }

    func run() async throws {
        let terms = try terms()
        let lifetime = try expires.map { try Self.lifetime($0) }
        let (key, text) = try await queueOptions.withKeys { store, audit in
            let made = try await store.create(terms, endingAfter: lifetime)
            await audit.note("createKey", made.key.id)
            return made
        }
        if json { return try printJSON(Made(key: key, secret: text.revealed)) }
        print(text.revealed)
        fflushStandardOutput()
        StandardError.write(
            block:
                "This is key \(key.id). It is shown this once: keep it now. To take it back: minilab key revoke \(key.id)"
        )
    }

    /// A key with its secret text, which is printed once.
    private struct Made: Encodable {
        let key: AccessKey
        let secret: String
    }

    private func terms() throws -> KeyTerms {
        try KeyTerms(
            label: label, tenant: try tenant.map { try JobID($0) },
            assetPrefix: try AssetPrefix(prefix ?? ""), scopes: try scopes(),
            quotas: KeyQuotas(
                backlogMax: backlog, requestsPerSecond: rate, requestBurst: burst,
                uploadBytesPerDay: try uploadPerDay.map {
                    try KeyQuotas.bytes("--upload-per-day", $0)
                },
                storedBytesMax: try stored.map { try KeyQuotas.bytes("--stored", $0) }),
            corsOrigins: corsOrigins)
    }

    private func scopes() throws -> Set<Scope> {
        Set(
            try scope.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map {
                word in
                guard let scope = Scope(rawValue: String(word)) else {
                    throw ValidationError(
                        "--scope \(word.debugDescription) is no scope; known: "
                            + Scope.allCases.map(\.rawValue).joined(separator: ", ") + ".")
                }
                return scope
            })
    }

    private static func lifetime(_ text: String) throws -> Duration {
        let syntax = ValueSyntax.duration(.seconds(1) ... .seconds(3650 * 86400))
        guard let time = try syntax.parse(text) else {
            throw ValidationError("--expires \(text.debugDescription) is not \(syntax.expected).")
        }
        return time
    }
}

struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys, ended ones too, with their quotas and without their secrets.",
        discussion: """
            A quota that a key does not have is the gateway's: settings gateway.backlog, gateway.rate, \
            gateway.upload.day and gateway.stored.

            Example:
              minilab key list
              minilab key list --tenant acme --json
            """)

    @Option(help: "Only those of this tenant.") var tenant: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let (all, now) = try await queueOptions.withKeysToRead { store in
            (try await store.list(), try await store.now())
        }
        let keys = all.filter { tenant == nil || $0.tenant?.string == tenant }
        if json { return try printJSON(keys) }
        var table = TextTable([
            "key", "state", "tenant", "prefix", "scopes", "quotas", "made", "ends", "label",
        ])
        for key in keys {
            table.add([
                key.id, key.state(at: now).rawValue, key.tenant?.string ?? "(operator)",
                key.assetPrefix.string.isEmpty ? "(all)" : key.assetPrefix.string,
                key.scopes.sorted().map(\.rawValue).joined(separator: ","), key.quotas.text,
                date(key.createdAt),
                key.expiresAt.map(date) ?? "never", key.label,
            ])
        }
        print(block: table.text)
    }
}

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
        let revoked = try await queueOptions.withKeys { store, audit in
            var revoked: [String: AccessKey] = [:]
            for id in keys {
                revoked[id] = try await store.revoke(id)
                if revoked[id] != nil { await audit.note("revokeKey", id) }
            }
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
