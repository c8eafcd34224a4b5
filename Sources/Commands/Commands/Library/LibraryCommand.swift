import ArgumentParser
import JobQueue
import Logging
import Redis

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Creates, checks and copies libraries.",
        subcommands: [
            LibraryCreateCommand.self, LibraryCheckCommand.self, LibraryCopyCommand.self,
            LibraryUseCommand.self,
        ])
}

struct LibraryCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes a folder or a place in a bucket a library.",
        discussion: """
            Writes its identity, library.json, and the folders of a library. Workers refuse a place without them, because \
            it may be the mount point of a disk. A folder that has originals when the first worker of a queue starts \
            needs no such command. Prints the id; a library that is there already stays as it is.

            Example:
              minilab library create --library /srv/photos
            """)

    @OptionGroup var options: LibraryOptions
    @Option(Settings.scratch) var scratch: FlagValue?
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let (location, _, logger) = try options.read([scratch].compactMap(\.self))
        let store = try await OpenStore.open(location, for: .creating, logger)
        await store.close()
        let id = store.ofQueue?.id ?? ""
        if json {
            try printJSON(["id": id, "library": store.name])
        } else {
            print("library \(id) at \(store.name)")
        }
    }
}

struct LibraryUseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Gives a queue another library.",
        discussion: """
            A queue has the library of its first worker, and workers with another one claim no jobs. When a library has \
            moved: stop the workers, have the queue use the copy, and start the workers with it.

            Example:
              minilab library use --library 's3://photos/lab?endpoint=https://s3.example'
            """)

    @Option(Settings.library) var library: FlagValue?
    @Option(Settings.originals) var originals: FlagValue?
    @Option(Settings.scratch) var scratch: FlagValue?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        var reader = SettingsReader(
            try queueOptions.source([library, originals, scratch].compactMap(\.self)))
        let connection = QueueConnection(&reader)
        let location = LibraryLocation(&reader)
        reader.passOverWorkerSettings()
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let store = try await OpenStore.open(location, for: .reading, logger)
        await store.close()
        guard let own = store.ofQueue else {
            throw CommandError(
                "\(store.name) has no library.json. Make it a library first: minilab library create."
            )
        }
        let redis = RedisClient(connection.redis, logger: logger)
        do {
            let queue = JobQueue(name: connection.name, redis: redis)
            try await queue.checkFormat()
            _ = try await queue.join(own, takesPlace: true)
            await CommandAudit(redis, connection.name).note(
                "useLibrary", "\(own.id) at \(own.name)")
            await redis.close()
        } catch {
            await redis.close()
            throw error
        }
        if json {
            try printJSON(["id": own.id, "library": own.name, "queue": "\(connection.name)"])
        } else {
            print("queue \(connection.name) has the library \(own.id) at \(own.name)")
        }
    }
}
