import ArgumentParser

/// `minilab library`.
struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Creates, checks and copies libraries, and gives queues theirs.",
        subcommands: [
            LibraryCreateCommand.self, LibraryCheckCommand.self, LibraryCopyCommand.self,
            LibraryUseCommand.self,
        ])
}
