import ArgumentParser
import Edits
import FoundationEssentials
import Glibc
import JobQueue
import Operations

struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows a queue at work: rates, workers, running jobs.",
        discussion: """
            On a terminal, the view is redrawn each second, until Ctrl-C. Elsewhere, and with --once, it is printed once, \
            without rates, which need two readings. With --json: an object per line and reading.

            Example:
              minilab top
              minilab top --once
              minilab top --json | jq .perSecond.completed
            """)

    @Flag(help: "Print one reading.") var once = false
    @Option(help: ArgumentHelp("Seconds between two readings.", valueName: "s")) var every = 1
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON, an object per line.") var json = false

    private static let everyRange = 1...3600

    func validate() throws {
        try Self.everyRange.check(every, "--every")
    }

    func run() async throws {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let isLive = !once && (json || isTerminal)
        try await queueOptions.withQueue { queue, _ in
            var before: QueueSnapshot?
            repeat {
                let snapshot = try await QueueSnapshot(queue, after: before)
                if json {
                    try printJSON(snapshot, pretty: false)
                } else if isLive {
                    draw(snapshot.text(rows: Self.terminalRows))
                } else {
                    print(block: snapshot.text(rows: nil))
                }
                fflushStandardOutput()
                before = snapshot
                if isLive { try await Task.sleep(for: .seconds(every)) }
            } while isLive
        }
    }

    /// Overwrites the previous screen line by line, so that nothing flickers.
    private func draw(_ text: String) {
        let lines = text.printableLines.split(separator: "\n", omittingEmptySubsequences: false)
        Swift.print(
            "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\n") + "\u{1b}[J",
            terminator: "")
    }

    private static var terminalRows: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }
}
