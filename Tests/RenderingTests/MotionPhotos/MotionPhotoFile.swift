import Edits
import PhotoFiles
import Files
import Foundation
import MinilabTesting
import Testing

@testable import Rendering

/// Motion photos that tests make, and what is in a file that was rendered of one.
struct MotionPhotoFile {
    let path: String
    let bytes: [UInt8]
    /// Map and video beside the picture.
    let companions: PhotoCompanions

    /// Reads a file.
    init(_ path: String) throws {
        self.path = path
        bytes = try Picture.file(path)
        companions = try PhotoFile(at: path).companions()
    }

    /// Writes one of the smooth photo of tests.
    ///
    /// - Parameter kind: of a gain map between photo and video.
    static func write(
        _ photo: SyntheticMotionPhoto, map kind: HDRPhoto.Kind? = nil, to path: String
    ) throws {
        try PlanesLaneTests.photo(
            HDRPhoto.size.width, HDRPhoto.size.height, 2, 2, at: path)
        var photo = photo
        if let kind { photo.map = try HDRPhoto.map(kind, scratch: path + ".map") }
        try Data(photo.file(of: Picture.file(path))).write(to: URL(filePath: path))
    }

    /// The bytes of a movie of the fixtures.
    static func movie(_ name: String = "bt601.mp4") throws -> [UInt8] {
        try Picture.file(RenderedMovie.fixture(name))
    }

    /// The movie's bytes.
    var video: [UInt8]? { companions.video.map { Array(bytes[$0.byteRange]) } }

    /// Whether anything in the file says that it has a video.
    var claimsVideo: Bool {
        companions.video != nil || companions.videoObstacle != nil
            || companions.others.contains(.motionVideo)
            || ["MotionPhoto", "MicroVideo", "VideoLength", "mpvd", "ftypmp42", "ftypisom"]
                .contains {
                    bytes.dropFirst(16).firstRange(of: Array($0.utf8)) != nil
                }
    }

    /// A movie of bytes.
    static func tables(_ bytes: [UInt8]) throws -> Movie {
        var window = FileWindow(length: bytes.count) { offset, count in
            Array(bytes.dropFirst(offset).prefix(count))
        }
        return try Movie(&window)
    }
}
