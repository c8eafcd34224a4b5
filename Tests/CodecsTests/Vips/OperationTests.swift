import Edits
import Testing

@testable import Codecs

@Suite("Operation") struct OperationTests {
    init() throws { try VipsLibrary.start() }

    private let grey: Image = {
        do {
            try VipsLibrary.start()
            return try Image.fromPixels([0, 50, 100, 150], width: 2, height: 2, bands: 1)
        } catch { preconditionFailure("\(error)") }
    }()

    @Test func `an operation runs by its name`() throws {
        #expect(try grey.mirrored().pixels() == [50, 0, 150, 100])
        #expect(try grey.turned(.d90).pixels() == [100, 0, 150, 50])
    }

    @Test func `an unknown operation is an error that names it`() {
        let error = #expect(throws: VipsError.self) { try Operation.run("nonsense", []) }
        #expect(error?.operation == "nonsense")
    }

    @Test func `an unknown argument is an error that names both`() {
        let error = #expect(throws: VipsError.self) {
            try Operation.run("flip", [("in", .image(grey)), ("sideways", .bool(true))])
        }
        #expect(error?.operation == "flip" && error?.arguments == "sideways")
    }

    @Test func `a wrong enum nick is an error that names it`() {
        let error = #expect(throws: VipsError.self) {
            try Operation.run("flip", [("in", .image(grey)), ("direction", .string("sideways"))])
        }
        #expect(error?.description.contains("sideways") == true)
    }

    @Test func `a value of the wrong type is an error that says the right one`() {
        let error = #expect(throws: VipsError.self) {
            try Operation.run("rot", [("in", .image(grey)), ("angle", .double(3))])
        }
        #expect(error?.text.contains("VipsAngle") == true)
    }

    @Test func `an untrusted loader is blocked`() {
        #expect(throws: VipsError.self) {
            try Operation.run("csvload", [("filename", .string("photo.csv"))])
        }
    }

    @Test func `a picture can be computed in Swift, rectangle by rectangle`() throws {
        let picture = RegionPicture(
            width: 2, height: 2, bands: 1, format: .uchar, interpretation: "b-w")
        let brighter = try grey.computing(picture) { input, output in
            for row in 0..<output.area.height {
                let from = input.row(row).assumingMemoryBound(to: UInt8.self)
                let to = output.row(row).assumingMemoryBound(to: UInt8.self)
                for x in 0..<output.area.width { to[x] = from[x] + 5 }
            }
        }
        #expect(try brighter.pixels() == [5, 55, 105, 155])
    }

    @Test func `a change of the header leaves the image as it was`() throws {
        let tagged = try grey.changing([.setInt("orientation", 6), .setData("blob", [1, 2])])
        #expect(tagged.int("orientation") == 6)
        #expect(tagged.data("blob") == [1, 2])
        #expect(grey.int("orientation") == nil)
    }

    @Test(arguments: [
        "magickload", "magickload_buffer", "svgload", "svgload_buffer", "pdfload",
        "pdfload_buffer", "openslideload", "jp2kload", "openexrload", "fitsload", "matload",
        "csvload", "ppmload", "radload", "analyzeload", "rawload", "vipsload", "magicksave",
    ])
    func `a loader that we do not want cannot be reached`(_ loader: String) {
        let error = #expect(throws: VipsError.self) { try Operation.run(loader, []) }
        // Those of a module that is not loaded are not even there.
        let isThere = error?.text == "the operation is blocked"
        #expect(isThere || error?.text == VipsError.noSuchOperation)
    }

    @Test(arguments: ["magickload", "magicksave", "pdfload", "openslideload"])
    func `modules of large foreign libraries are not loaded`(_ loader: String) {
        let error = #expect(throws: VipsError.self) { try Operation.run(loader, []) }
        #expect(error?.text == VipsError.noSuchOperation)
    }

    @Test(arguments: [
        "jpegload", "pngload", "webpload", "tiffload", "gifload", "heifload", "jxlload",
    ])
    func `a loader of a photo format is reached and refuses what is no photo`(_ loader: String) {
        let error = #expect(throws: VipsError.self) {
            try Operation.run(loader, [("filename", .string(#filePath))])
        }
        #expect(error?.text.contains("blocked") == false)
    }
}
