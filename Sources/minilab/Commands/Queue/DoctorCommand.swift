import ArgumentParser
import JobQueue
import Operations

/// `minilab doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks whether everything in the queue is as it must be, and mends it.",
        discussion: """
            Works on a live queue: what it finds was so at one moment, seen by a script that ran alone. \
            --repair mends what can be mended without losing a job or doing one twice, and looks again.

            Exits with 0 when all is well or has been mended, with 1 when something is wrong.

            Example:
              minilab doctor --repair
            """)

    @Flag(help: "Mend what can be mended safely.") var repair = false
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let diagnosis = try await queueOptions.withQueue { queue, _ in
            try await queue.diagnose(repair: repair)
        }
        if json { try printJSON(diagnosis) } else { report(diagnosis) }
        guard diagnosis.isHealthy else { throw ExitCode(1) }
    }

    private func report(_ diagnosis: Diagnosis) {
        for finding in diagnosis.mended { print("mended: \(finding.sentence)") }
        for finding in diagnosis.open {
            print("wrong: \(finding.sentence)")
            if let advice = finding.advice { print("  \(advice)") }
        }
        for warning in diagnosis.warnings { print("warning: \(warning)") }
        print(
            "looked at \(counted(diagnosis.places, "place")) of jobs, "
                + "\(counted(diagnosis.flows, "flow")), \(diagnosis.batches) batches: "
                + (diagnosis.isHealthy
                    ? "all is as it must be" : "\(diagnosis.open.count) wrong"))
        if !diagnosis.isHealthy, !repair {
            print("minilab doctor --repair mends what is safe to mend.")
        }
    }
}
