import Foundation
import MinilabTesting

/// ffmpeg and ffprobe as the judges of frames and of movies, and ffmpeg as the maker of some.
enum FFmpeg {
    struct Missing: Error, CustomStringConvertible {
        let description = "there is no ffmpeg, which judges frames: run ops/setup test"
    }

    static func run(_ program: String = "ffmpeg", arguments: [String]) throws -> Data {
        do {
            return try Tool.run(program, arguments)
        } catch let failed as Tool.Failed where failed.status == notFound {
            throw Missing()
        }
    }

    /// The status by which timeout says that a program is not there.
    private static let notFound: Int32 = 127

    /// The CRC-32 of each frame of the video, in the order in which they are shown: of all planes' rows, one behind the other.
    ///
    /// - Parameter format: of the pixels; nil: that of the decoder.
    static func frames(of path: String, as format: String? = nil) throws -> [UInt32] {
        let pixels = format.map { ["-pix_fmt", $0] } ?? []
        let lines = try run(
            arguments: [
                "-nostdin", "-v", "error", "-noautorotate", "-ignore_editlist", "1", "-i", path,
                "-map", "0:v:0", "-fps_mode", "passthrough",
            ] + pixels + ["-f", "framehash", "-hash", "crc32", "-"])
        return String(decoding: lines, as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .compactMap { line in
                line.split(separator: ",").last.flatMap {
                    UInt32($0.trimmingCharacters(in: .whitespaces), radix: 16)
                }
            }
    }

    /// Times of the frames of the video by the file's tables, in units of its time scale, ascending.
    static func times(of path: String) throws -> [Int] {
        let text = try run(
            "ffprobe",
            arguments: [
                "-v", "error", "-ignore_editlist", "1", "-select_streams", "v:0", "-show_entries",
                "packet=pts", "-of", "csv=p=0", path,
            ])
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap {
            Int($0.filter { $0.isNumber || $0 == "-" })
        }.sorted()
    }

    /// Makes a movie of a moving pattern with noise.
    ///
    /// - Parameter size: width and height, with a colon between them, of 208 and 120 at most.
    static func make(
        _ path: String, size: String, frames: Int = 12, _ coding: [String]
    ) throws {
        _ = try run(
            arguments: [
                "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                "testsrc2=size=208x120:rate=25,noise=alls=12:all_seed=7:allf=t,format=yuv444p,crop=\(size):0:0:exact=1",
                "-frames:v",
                "\(frames)", "-threads", "1",
            ] + coding + [path])
    }
}
