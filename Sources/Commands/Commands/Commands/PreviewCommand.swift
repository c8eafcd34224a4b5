import Edits
import ArgumentParser
import RenderProtocol
import SystemPackage
import Worker

/// `minilab preview`.
struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Renders a small picture of an edit.",
        discussion: """
            The photo is shrunk while it is decoded, and lengths such as a blur's radius shrink with it.

            Example:
              minilab preview IMG_0001.JPG --filter CISepiaTone --max 1024
            """)

    @Argument(help: "The photo.") var input: String
    @Argument(help: "The file to write (default: PHOTO-preview.jpg in this folder).")
    var output: String?
    @OptionGroup var edit: EditOptions
    @OptionGroup var limits: LimitOptions
    @Option(name: .customLong("max"), help: "Maximum length of the longer side, in pixels.")
    var longestSide = 1024
    @Flag(help: "Print the report as JSON.") var json = false

    func validate() throws {
        let range = PhotoRequest.longestSideRange
        guard range.contains(longestSide) else {
            throw ValidationError(
                "--max is \(longestSide); expected \(range.lowerBound) to \(range.upperBound).")
        }
    }

    func run() async throws {
        try await renderFile(
            input, to: output ?? beside(input, "preview"), edit: edit,
            given: limits.flagValues, longestSide: longestSide, json: json)
    }
}

/// Returns `IMG_0001-preview.jpg` for `/photos/IMG_0001.HEIC`: a file in the working directory.
func beside(_ photo: String, _ word: String) -> String {
    "\(FilePath(photo).lastComponent?.stem ?? "photo")-\(word).jpg"
}
