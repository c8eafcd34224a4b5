import ArgumentParser
import Edits
import JobQueue
import Redis
import Telemetry

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints the events of a queue, a CloudEvent per line.",
        discussion: """
            Ends with an error when events after --after were trimmed and may have been missed; the error states \
            how to list all assets instead.

            Example:
              minilab events --follow | jq .data.version.path
            """)

    @Flag(help: "Wait for more.") var follow = false
    @Option(
        help: "Start after this entry of the stream, or $ for the newest (default: the beginning).")
    var after: String = EventReader.beginning
    @Flag(help: "The events are JSON already; accepted for uniformity.") var json = false
    @OptionGroup var queueOptions: QueueOptions

    func run() async throws {
        try await queueOptions.withQueue { queue, redis in
            var reader =
                after == "$"
                ? try await EventReader(queue: queue.name, redis: redis, afterNewest: ())
                : EventReader(queue: queue.name, redis: redis, after: after)
            var isToldOfLoss = false
            while true {
                let entries: [EventReader.Entry]
                do throws(QueueError) {
                    entries = try await reader.next(waiting: follow ? .seconds(5) : .zero)
                } catch {
                    guard error.code == .unreadableEvent else { throw error }
                    StandardError.write(error.message)
                    continue
                }
                if let lost = reader.lostPosition, !isToldOfLoss {
                    isToldOfLoss = true
                    StandardError.write(
                        "Redis has lost its last events, up to \(lost), which were read before; this goes on after the newest one left"
                    )
                }
                for entry in entries { print(json: entry.json) }
                fflushStandardOutput()
                if entries.isEmpty && !follow { break }
            }
            // Standard output is only for the events.
            StandardError.write("continue from here with --after \(reader.position)")
        }
    }
}
