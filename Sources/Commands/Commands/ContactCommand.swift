import ArgumentParser
import Edits
import Files
import Logging
import RenderPool
import RenderProtocol
import SystemPackage
import Worker

struct ContactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contact",
        abstract: "Draws one photo with many filters, labelled.",
        discussion: """
            All pictures are made of one small copy of the photo.

            Example:
              minilab contact IMG_0001.JPG --filters CISepiaTone,CIPhotoEffectMono,CIAuto
            """)

    @Argument(help: "The photo.") var input: String
    @Argument(help: "The JPEG file to write (default: PHOTO-contact.jpg in this folder).")
    var output: String?
    @Option(
        help: "Names of filters, which take their defaults. Without any: all that have defaults.")
    var filters: String?
    @Option(
        name: .customLong("filter"), parsing: .singleValue,
        help: ArgumentHelp(
            "One more filter with parameters, such as CISepiaTone:inputIntensity=0.5.",
            valueName: "name:key=value,…"))
    var more: [String] = []
    @Option(help: "Longest side of a picture, in pixels.") var side = 240
    @Option(
        help: ArgumentHelp(
            "The frame of a movie to show, in seconds from the beginning (default: 0s).",
            valueName: "seconds"))
    var at: MovieTime?
    @OptionGroup var limits: LimitOptions

    func validate() throws {
        try ContactSheetRequest.cellSideRange.check(side, "--side")
    }

    func run() async throws {
        var reader = SettingsReader(try SettingsSource(limits.flagValues))
        var settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        try settings.rendering.boundMemory()
        let source = try OpenFile(reading: FilePath(input).absolute.string)
        var shown = Recipe.Output()
        shown.movie.posterTime = at?.seconds ?? 0
        var cells = [
            SheetCell(
                source: source, recipe: try Recipe(filters: [], output: shown), label: "original")
        ]
        for (label, filter) in try chosen() {
            cells.append(
                .init(
                    source: source, recipe: try Recipe(filters: [filter], output: shown),
                    label: label))
        }
        let output = output ?? beside(input, "contact")
        try await drawContactSheet(
            cells, across: Int(Double(cells.count).squareRoot().rounded(.up)), side: side,
            to: output, settings, logger)
        print("\(output): \(cells.count) pictures")
    }

    private func chosen() throws -> [(label: String, filter: Filter)] {
        var chosen: [(String, Filter)] = []
        let names: [String]
        if let filters {
            names = filters.split(separator: ",").map(String.init)
        } else if more.isEmpty {
            names = FilterCatalogue.all.filter {
                !$0.isGenerator && $0.parameters.allSatisfy { $0.defaultValue != nil }
            }.map(\.name)
        } else {
            names = []
        }
        for name in names { chosen.append((name, try Filter(name, at: "--filters"))) }
        for text in more { chosen.append((text, try Filter(text: text, at: "--filter \(text)"))) }
        return chosen
    }
}
