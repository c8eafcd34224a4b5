import Edits
import Files
import Foundation
@testable import Codecs
import RenderProtocol

@testable import Filters
@testable import Rendering

// Tests name files by their paths; the targets know open files alone.

extension OpenFile {
    /// A file to be written, made or emptied.
    convenience init(writing path: String) throws {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        self.init(adopting: file, name: path)
    }

    /// A file that is there, to be read and written.
    convenience init(changing path: String) throws {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        self.init(adopting: file, name: path)
    }
}

extension Image {
    static func open(
        _ path: String, loader: String, streaming: Bool, failOn: FailOn
    ) throws -> Image {
        let file = try OpenFile(reading: path)
        return try open(
            file.descriptor, loader: loader, streaming: streaming, failOn: failOn)
    }

    func writeJPEG(
        to path: String, quality: Int, chroma: ChromaSubsampling, progressive: Bool = false
    ) throws {
        let file = try OpenFile(writing: path)
        try writeJPEG(
            to: file.descriptor, quality: quality, chroma: chroma, progressive: progressive)
    }

    func writePNG(to path: String, progressive: Bool = false) throws {
        let file = try OpenFile(writing: path)
        try writePNG(to: file.descriptor, progressive: progressive)
    }

    /// By libvips, of another writer's making than ours.
    func writeTIFF(to path: String) throws {
        try Operation.perform(
            "tiffsave",
            [
                ("in", .image(self)), ("filename", .string(path)),
                ("compression", .string("deflate")), ("predictor", .string("horizontal")),
            ])
    }

    func writeWebP(to path: String, quality: Int) throws {
        let file = try OpenFile(writing: path)
        try writeWebP(to: file.descriptor, quality: quality)
    }

    func writeAVIF(to path: String, quality: Int, bits: Int, chroma: ChromaSubsampling) throws {
        let file = try OpenFile(writing: path)
        try writeAVIF(to: file.descriptor, quality: quality, bits: bits, chroma: chroma)
    }

    func writeJXL(to path: String, quality: Int) throws {
        let file = try OpenFile(writing: path)
        try writeJXL(to: file.descriptor, quality: quality)
    }
}

extension JPEGReader {
    convenience init(_ path: String, limits: JPEGLimits = JPEGLimits()) throws {
        let file = try OpenFile(reading: path)
        try self.init(file.descriptor, limits: limits)
    }
}

extension JPEGWriter {
    convenience init(
        _ path: String, layout: JPEGLayout, coding: JPEGCoding, density: JPEGDensity = .unknown,
        markers: [JPEGMarker] = []
    ) throws {
        let file = try OpenFile(writing: path)
        try self.init(
            file.descriptor, layout: layout, coding: coding, density: density, markers: markers)
    }
}

extension PhotoFile {
    init(at path: String, limits: RenderLimits = RenderLimits()) throws {
        try self.init(OpenFile(reading: path), limits: limits)
    }
}

extension Photo {
    init(
        _ path: String, recipe: Recipe, limits: RenderLimits, copy: Copy? = nil,
        memoryMax: Int? = nil, memorySpoolBytesMax: Int = Photo.memorySpoolBytesMax,
        resources: Resources = .none
    ) throws {
        try self.init(
            OpenedPhoto(
                PhotoFile(at: path, limits: limits), recipe: recipe, limits: limits,
                resources: resources),
            copy: copy, memoryMax: memoryMax, memorySpoolBytesMax: memorySpoolBytesMax)
    }

    func write(to path: String, folder: String, failOn: Image.FailOn) throws {
        try write(to: OpenFile(writing: path), spool: SpoolSpace(in: folder), failOn: failOn)
    }
}

extension SpoolSpace {
    convenience init(in folder: String) throws {
        self.init(try .nameless(in: folder, name: "the spool"))
    }
}

extension SpoolStorage {
    init(folder: String, memoryBytesMax: Int = Photo.memorySpoolBytesMax) throws {
        self.init(space: try SpoolSpace(in: folder), memoryBytesMax: memoryBytesMax)
    }
}

extension CubeFile {
    init(at path: String) throws {
        try self.init([UInt8](Data(contentsOf: URL(fileURLWithPath: path))), named: path)
    }
}

extension Resources {
    /// The files of a folder that are named by digests.
    init(folder: String?) throws {
        var files: [String: OpenFile] = [:]
        for name in try folder.map(FileManager.default.contentsOfDirectory) ?? [] {
            files["sha256:" + name] = try OpenFile(reading: folder! + "/" + name)
        }
        self.init(files: files)
    }
}
