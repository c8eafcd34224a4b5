import ArgumentParser
import JobQueue
import Operations

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks the data of a queue, and repairs it.",
        discussion: """
            Works on a live queue: a script that runs alone confirms each finding at one moment. \
            --repair repairs what can be repaired without losing a job or running one twice, and checks again.

            Ends with 0 when all is right or has been repaired, with 1 when a fault is left.

            Example:
              minilab doctor --repair
            """)

    @Flag(help: "Repair what can be repaired safely.") var repair = false
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
            "checked \(counted(diagnosis.places, "place")) of jobs, "
                + "\(counted(diagnosis.flows, "flow")), \(diagnosis.batches) batches: "
                + Self.sum(diagnosis))
        if !diagnosis.isHealthy, !repair {
            print("Run minilab doctor --repair to repair what can be repaired safely.")
        }
    }
}
