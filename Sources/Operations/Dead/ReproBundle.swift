package import Adjustments
package import JobQueue
import RenderProtocol

/// All that is needed to see a dead job fail again.
package struct ReproBundle: Encodable {
    package let job: String
    package let asset: String
    package let original: Original?
    /// As it was sent; as text when it is no JSON.
    package let edit: JSONValue?
    package let tenant: String
    package let priority: String
    package let batch: String?
    package let generation: Int
    package let attempts: Int
    package let crashes: Int
    package let code: FailureCode?
    package let message: String?
    /// How far the last worker was when it was last heard of.
    package let stage: String?
    /// Why each attempt ended, the newest first: code, signal, stage and worker.
    package let history: [Attempt]
    /// The engine of this `minilab`.
    package let engine: String
    /// The command that repeats the job beside a file `bundle.json` of this.
    package let command: String

    /// The photo.
    package struct Original: Encodable {
        package let path: String?
        package let sha256: String?
        package let bytes: Int?
        /// Why it cannot be read.
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
        // What is no JSON is shown as it was sent.
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
        command = Self.command(
            photo: original?.path ?? "ORIGINALS/\(record.asset)", asset: record.asset, edit: edit)
    }

    private static func command(photo: String, asset: String, edit: String?) -> String {
        let take = "jq .edit bundle.json > edit.json && minilab"
        // An edit that cannot be read fails before any photo is.
        guard let edit, let mode = (try? Edit(json: edit))?.mode, mode.name != .replace else {
            return "\(take) render \(quoted(photo)) out.jpg --edit edit.json"
        }
        return "\(take) enqueue \(quoted(asset)) --edit edit.json"
    }

    /// A word for a shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
