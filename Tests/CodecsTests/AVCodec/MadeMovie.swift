import Foundation
import MinilabTesting
import Testing

/// A coding that ffmpeg makes a small movie of.
struct MadeMovie: Sendable, CustomTestStringConvertible {
    let name: String
    let coding: [String]
    /// The format in which the judge gives frames, where a decoder's own has alpha.
    var judged: String?
    var size = "208:120"

    var testDescription: String { name }

    init(_ name: String, _ coding: String, judged: String? = nil, size: String = "208:120") {
        self.name = name
        self.coding = coding.split(separator: " ").map { String($0) }
        (self.judged, self.size) = (judged, size)
    }

    /// Makes the movie in a folder and returns its path.
    func made(in folder: TemporaryFolder, frames: Int = 12) throws -> String {
        let path = folder.file(name.filter { $0.isLetter || $0.isNumber } + ".mov")
        try FFmpeg.make(path, size: size, frames: frames, coding)
        return path
    }

    static let h264 = "-c:v libx264 -preset veryfast -threads 1"
    static let hevc =
        "-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params log-level=none:pools=none"

    /// Kinds of frames that decoders give.
    static let all = [
        MadeMovie("H.264 4:2:0 with B frames", h264 + " -bf 3 -pix_fmt yuv420p"),
        MadeMovie("H.264 full range", h264 + " -pix_fmt yuvj420p"),
        MadeMovie("H.264 4:2:2 10 bit", h264 + " -pix_fmt yuv422p10le"),
        MadeMovie("H.264 4:4:4, odd size", h264 + " -pix_fmt yuv444p", size: "207:119"),
        MadeMovie("H.264 grey", h264 + " -pix_fmt gray"),
        MadeMovie(
            "H.264 of fields", h264 + " -flags +ildct+ilme -x264-params tff=1 -pix_fmt yuv420p"),
        MadeMovie("H.264 of slices", h264 + " -x264-params slices=4 -pix_fmt yuv420p"),
        MadeMovie("H.264 lossless RGB", "-c:v libx264rgb -qp 0 -threads 1 -pix_fmt rgb24"),
        MadeMovie("HEVC 4:2:0", hevc + " -pix_fmt yuv420p"),
        MadeMovie("HEVC 4:2:2 10 bit", hevc + " -pix_fmt yuv422p10le"),
        MadeMovie("HEVC 4:4:4 12 bit, odd size", hevc + " -pix_fmt yuv444p12le", size: "207:119"),
        MadeMovie("HEVC grey 10 bit", hevc + " -pix_fmt gray10le"),
        MadeMovie("HEVC of green, blue and red", hevc + " -pix_fmt gbrp"),
        MadeMovie("MPEG-4 with B frames", "-c:v mpeg4 -bf 2 -q:v 4"),
        MadeMovie("MPEG-4 of fields", "-c:v mpeg4 -flags +ildct+ilme -q:v 4"),
        MadeMovie("Motion JPEG 4:2:0", "-c:v mjpeg -q:v 4 -pix_fmt yuvj420p"),
        MadeMovie("Motion JPEG 4:2:2", "-c:v mjpeg -q:v 4 -pix_fmt yuvj422p"),
        MadeMovie(
            "Motion JPEG 4:4:4, odd size", "-c:v mjpeg -q:v 4 -pix_fmt yuvj444p", size: "207:119"),
        MadeMovie("ProRes proxy", "-c:v prores_ks -profile:v 0 -pix_fmt yuv422p10le"),
        MadeMovie(
            "ProRes 422 HQ of fields",
            "-c:v prores_ks -profile:v 3 -flags +ildct -pix_fmt yuv422p10le"),
        MadeMovie(
            "ProRes 4444", "-c:v prores_ks -profile:v 4 -pix_fmt yuv444p10le", judged: "yuv444p12le"
        ),
        MadeMovie(
            "ProRes 4444 with alpha", "-c:v prores_ks -profile:v 4 -pix_fmt yuva444p10le",
            judged: "yuv444p12le"),
        MadeMovie("AV1", "-c:v libaom-av1 -cpu-used 8 -crf 30 -threads 1 -pix_fmt yuv420p -f mp4"),
        MadeMovie(
            "AV1 10 bit with film grain",
            "-c:v libaom-av1 -cpu-used 8 -crf 30 -threads 1 -denoise-noise-level 25 -pix_fmt yuv420p10le -f mp4"
        ),
        MadeMovie(
            "VP9 with hidden frames",
            "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 8 -crf 30 -b:v 0 -threads 1 -pix_fmt yuv420p -f mp4"
        ),
        MadeMovie(
            "VP9 4:4:4 10 bit",
            "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 30 -b:v 0 -threads 1 -pix_fmt yuv444p10le -f mp4"
        ),
    ]
}
