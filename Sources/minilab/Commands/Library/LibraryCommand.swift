import ArgumentParser

/// `minilab library`.
struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Looks after the place of a library.",
        subcommands: [LibraryCheckCommand.self, LibraryCopyCommand.self])
}
