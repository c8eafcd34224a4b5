import ArgumentParser

/// `minilab library`.
struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract: "Checks and copies libraries.",
        subcommands: [LibraryCheckCommand.self, LibraryCopyCommand.self])
}
