import ArgumentParser
import JobQueue

/// `minilab library create`.
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
