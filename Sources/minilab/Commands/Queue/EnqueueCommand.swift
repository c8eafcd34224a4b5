import Adjustments
import ArgumentParser
import JobQueue

/// `minilab enqueue`.
struct EnqueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enqueue",
        abstract: "Adds a job to a queue.",
        discussion: """
            It sends one XADD, which any program can send as well. Prints the entry's id, which is \
            the job's id unless --id gives one.

            Example:
              minilab enqueue IMG_0001.JPG --filter CISepiaTone:inputIntensity=0.8
              minilab enqueue IMG_0001.JPG --edit edit.json --tenant acme --priority interactive \
                --replace running
            """)

    @Argument(help: "The asset: a photo's path below the library's originals.") var asset: String
    @OptionGroup var edit: EditOptions
    @Option(help: "An id of your own; a job with a known id is not added twice.") var id: String?
    @OptionGroup var schedulingOptions: SchedulingOptions
    @OptionGroup var timing: TimingOptions
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print the job's id as JSON.") var json = false

    func run() async throws {
        let request = JobRequest(
            id: try id.map { try JobID($0) }, asset: try AssetPath(asset),
            edit: try edit.request(),
            scheduling: try timing.applied(to: schedulingOptions.scheduling()))
        let entry = try await queueOptions.withQueue { queue, _ in
            try await queue.enqueue(request)
        }
        let job = id ?? entry
        if json { try printJSON(["job": job, "entry": entry]) } else { print(job) }
    }
}
