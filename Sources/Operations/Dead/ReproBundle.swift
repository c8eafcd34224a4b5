package import Edits
package import JobQueue
import RenderProtocol

/// The data needed to reproduce the failure of a dead job.
package struct ReproBundle: Encodable {
    package let job: String
    package let asset: String
    package let original: Original?
    /// The edit, as the producer sent it; as text if it is not JSON.
    package let edit: JSONValue?
    package let tenant: String
    package let priority: String
    package let batch: String?
    package let generation: Int
    package let attempts: Int
    package let crashes: Int
    package let code: FailureCode?
    package let message: String?
    /// The stage of the job at the last heartbeat of its last worker.
    package let stage: String?
    /// The failure of each attempt, the newest first: code, signal, stage and worker.
    package let history: [Attempt]
    package let engine: String
    /// The commit of the program that wrote the bundle; nil for one that `ops/release` has not built.
    package let commit: String?
    /// The command that repeats the job in a folder with this value as `bundle.json`.
    package let command: String

    package struct Original: Encodable {
        package let path: String?
        package let sha256: String?
        package let bytes: Int?
        /// The reason why it cannot be read.
        package let trouble: String?

        package init(path: String?, sha256: String?, bytes: Int?, trouble: String?) {
            self.path = path
            self.sha256 = sha256
            self.bytes = bytes
            self.trouble = trouble
        }
    }

    package init(_ record: JobRecord, edit: String?, history: [Attempt], original: Original?) {
        job = record.job
        asset = record.asset
        self.original = original
        // Text that is not JSON is included as it was sent.
        self.edit = edit.map { text in (try? JSONValue(parsing: text, as: "edit")) ?? .string(text)
        }
        tenant = record.tenant
        priority = record.priority
        batch = record.batch
        generation = record.generation
        attempts = record.attempts
        crashes = record.crashes
        code = record.code
        message = record.message
        stage = record.stage
        self.history = history
        engine = Engine.name
        commit = Engine.commit
        command = Self.command(
            photo: original?.path ?? "ORIGINALS/\(record.asset)", asset: record.asset, edit: edit)
    }

    private static func command(photo: String, asset: String, edit: String?) -> String {
        let extraction = "jq .edit bundle.json > edit.json && minilab"
        // An edit that cannot be decoded fails before any photo is read.
        guard let edit, let mode = (try? Edit(json: edit))?.mode, mode.name != .replace else {
            return "\(extraction) render \(quoted(photo)) out.jpg --edit edit.json"
        }
        return "\(extraction) enqueue \(quoted(asset)) --edit edit.json"
    }

    /// Quotes a word for a shell, byte by byte: for Swift, a quote with an accent is another character than a quote.
    private static func quoted(_ text: String) -> String {
        let bytes = text.utf8.flatMap { byte in
            byte == UInt8(ascii: "'") ? Array("'\\''".utf8) : [byte]
        }
        return "'" + String(decoding: bytes, as: UTF8.self) + "'"
    }
}
