import MinilabTesting
import PhotoFiles
import Foundation

/// HEIC files that tests read.
enum HEICFixture {
    static func bytes(_ name: String) throws -> [UInt8] {
        return try bytes(at: Repository.fixture(name).path())
    }

    static func bytes(at path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]
}
