import Foundation
import MinilabTesting

/// ffprobe and exiftool as the judges of a whole movie: its packets, and what the file says of itself.
enum MovieJudges {
    /// A track as ffprobe reads it.
    struct Track: Equatable {
        /// `video`, `audio`, `data`.
        let kind: String
        /// Packets in the order of the file: times, length and MD5 of each.
        var packets: [Packet] = []

        /// When frames are shown, ascending.
        var times: [String] { packets.map(\.time).sorted() }
        /// When they are decoded.
        var decodeTimes: [String] { packets.map(\.decodeTime) }
    }

    struct Packet: Equatable {
        let time: String, decodeTime: String, duration: String, bytes: String, hash: String
    }

    /// The tracks of a file, by the tables alone: edit lists hide nothing.
    ///
    /// - Throws: `Tool.Failed` where ffprobe is not there or reads no movie.
    static func tracks(of path: String) throws -> [Track] {
        let text = try Tool.run(
            "ffprobe",
            [
                "-v", "quiet", "-ignore_editlist", "1", "-show_packets", "-show_streams",
                "-show_data_hash", "md5", "-of", "json", path,
            ])
        let found = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
        var tracks = (found["streams"] as? [[String: Any]] ?? []).map {
            Track(kind: "\($0["codec_type"] ?? "")")
        }
        for packet in found["packets"] as? [[String: Any]] ?? [] {
            func value(_ name: String) -> String { "\(packet[name] ?? "")" }
            guard let index = packet["stream_index"] as? Int else { continue }
            tracks[index].packets.append(
                Packet(
                    time: value("pts"), decodeTime: value("dts"), duration: value("duration"),
                    bytes: value("size"), hash: value("data_hash")))
        }
        return tracks
    }

    /// Facts of the boxes and of the samples of tracks of metadata: a line `[group] Tag : value` each.
    static func sayings(of path: String) throws -> [String] {
        let text = try Tool.run("exiftool", ["-ee", "-a", "-s", "-G1", "-n", path])
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("[System]") && !$0.hasPrefix("[ExifTool]") }
    }

    /// The name of the tag of a line.
    static func tag(_ line: String) -> String {
        line.split(separator: "]").dropFirst().first?.split(separator: ":").first
            .map { $0.trimmingCharacters(in: .whitespaces) } ?? line
    }
}

/// Movies that ffmpeg makes of its own moving picture.
enum TestMovie {
    /// Makes a movie.
    ///
    /// - Parameters:
    ///   - picture: size, rate and filters of the source `testsrc2`.
    ///   - options: ffmpeg's options of the coding, with spaces between them.
    static func make(_ path: String, of picture: String, _ options: String) throws {
        _ = try Tool.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=" + picture,
                "-threads", "1",
            ] + options.split(separator: " ").map(String.init) + [path])
    }
}
