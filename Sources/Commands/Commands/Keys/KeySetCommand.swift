import AccessKeys
import ArgumentParser
import Operations

struct KeySetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Changes the quotas of a key: every gateway applies them within a second.",
        discussion: """
            What no flag names stays as it is; none gives the key the gateway's own limit. Everything else of a key is \
            fixed: make another key instead.

            Example:
              minilab key set 7fq2m0x9ab3c --backlog 50000 --rate 20 --burst 100
              minilab key set 7fq2m0x9ab3c --upload-per-day none
            """)

    @Argument(help: "The id of a key, as minilab key list shows it.") var key: String
    @Option(
        help: ArgumentHelp("Maximum number of jobs that have not ended.", valueName: "jobs|none"))
    var backlog: String?
    @Option(
        help: ArgumentHelp(
            "Maximum number of requests per second; none also removes the burst.",
            valueName: "requests|none"))
    var rate: String?
    @Option(
        help: ArgumentHelp("Maximum burst of requests; needs a rate.", valueName: "requests|none"))
    var burst: String?
    @Option(
        name: .customLong("upload-per-day"),
        help: ArgumentHelp("Bytes of originals a day, such as 20G.", valueName: "bytes|none"))
    var uploadPerDay: String?
    @Option(
        help: ArgumentHelp(
            "Bytes of Redis that the tenant's jobs and batches take, such as 200M.",
            valueName: "bytes|none"))
    var stored: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        // An argument that is a whole key instead of its id must not be printed.
        guard KeyText.isID(key) else {
            throw ValidationError(
                "an id of a key has 12 digits and lower-case letters; minilab key list has them.")
        }
        guard [backlog, rate, burst, uploadPerDay, stored].contains(where: { $0 != nil }) else {
            throw ValidationError(
                "give a quota to change: --backlog, --rate, --burst, --upload-per-day or --stored.")
        }
    }

    func run() async throws {
        let change = try change()
        let changed = try await queueOptions.withKeys { store, audit in
            let changed = try await store.change(key) { change.apply(&$0) }
            if let changed { await audit.note("setKey", "\(key): \(changed.quotas.text)") }
            return changed
        }
        guard let changed else {
            throw CommandError("there is no key \(key); minilab key list has those that there are.")
        }
        if json { return try printJSON(changed) }
        print("\(key): \(changed.quotas.text)")
    }

    /// The new values: nil for a quota that stays, `.some(nil)` for one that is removed.
    private struct Change: Sendable {
        var backlog, rate, burst, upload, stored: Int??

        func apply(_ quotas: inout KeyQuotas) {
            if let backlog { quotas.backlogMax = backlog }
            if let rate {
                quotas.requestsPerSecond = rate
                if rate == nil { quotas.requestBurst = nil }
            }
            if let burst { quotas.requestBurst = burst }
            if let upload { quotas.uploadBytesPerDay = upload }
            if let stored { quotas.storedBytesMax = stored }
        }
    }

    private func change() throws -> Change {
        Change(
            backlog: try Self.value(backlog) { try KeyQuotas.count("--backlog", $0) },
            rate: try Self.value(rate) { try KeyQuotas.count("--rate", $0) },
            burst: try Self.value(burst) { try KeyQuotas.count("--burst", $0) },
            upload: try Self.value(uploadPerDay) { try KeyQuotas.bytes("--upload-per-day", $0) },
            stored: try Self.value(stored) { try KeyQuotas.bytes("--stored", $0) })
    }

    private static func value(_ text: String?, _ parse: (String) throws -> Int) throws -> Int?? {
        guard let text else { return nil }
        return text == "none" ? .some(nil) : .some(try parse(text))
    }
}

extension KeyQuotas {
    /// Reads a number of bytes that a flag gives.
    static func bytes(_ option: String, _ text: String) throws -> Int {
        let syntax = ValueSyntax.bytes(1...bytesMax)
        guard let bytes = try syntax.parse(text) else {
            throw ValidationError("\(option) \(text.debugDescription) is not \(syntax.expected).")
        }
        return bytes
    }

    /// Reads a number of jobs or requests that a flag gives.
    static func count(_ option: String, _ text: String) throws -> Int {
        guard let number = Int(text), (1...countMax).contains(number) else {
            throw ValidationError(
                "\(option) \(text.debugDescription) is not a whole number from 1 to \(countMax), or none."
            )
        }
        return number
    }

    /// The quotas in the words of the flags: `backlog 500, rate 20, burst 100`; `the gateway's` without any.
    var text: String {
        let all = [
            backlogMax.map { "backlog \($0)" }, requestsPerSecond.map { "rate \($0)" },
            requestBurst.map { "burst \($0)" },
            uploadBytesPerDay.map { "upload \(ValueSyntax.written($0)) a day" },
            storedBytesMax.map { "stored \(ValueSyntax.written($0))" },
        ].compactMap(\.self)
        return all.isEmpty ? "the gateway's" : all.joined(separator: ", ")
    }
}
