/// The record of a version's file in its provenance.
package struct RecordedFile: Sendable, Equatable {
    /// Its path in the version.
    package let name: String
    /// The SHA-256 in hex.
    package let sha256: String
    /// Its length; nil if it is not recorded.
    package let bytes: Int?
    /// Its IANA media type.
    package let mediaType: String?
    /// Its role in the version.
    package let subject: Verification.Subject

    /// Whether it is the file that readers see.
    package var isRender: Bool { subject == .render }

    /// Returns whether a file has the recorded bytes.
    package func isSame(as found: StoredDigest) -> Bool {
        found.sha256 == sha256 && bytes ?? found.bytes == found.bytes
    }
}

extension Content {
    /// The records of a version's files.
    package var recordedFiles: [RecordedFile] {
        var files = [
            RecordedFile(
                name: render.name, sha256: render.sha256, bytes: render.bytes,
                mediaType: render.mediaType, subject: .render),
            RecordedFile(
                name: adjustment.sidecar, sha256: adjustment.sidecarSHA256, bytes: nil,
                mediaType: "application/xml", subject: .adjustmentData),
        ]
        if let base {
            files.append(
                RecordedFile(
                    name: base.name, sha256: base.input.sha256, bytes: nil,
                    mediaType: base.input.format == "movie"
                        ? render.mediaType : "image/\(base.input.format)", subject: .base))
        }
        let movies = [
            (pairedVideo, Verification.Subject.pairedVideo), (base?.pairedVideo, .basePairedVideo),
        ]
        for case (let movie?, let subject) in movies {
            files.append(
                RecordedFile(
                    name: movie.name, sha256: movie.sha256, bytes: movie.bytes,
                    mediaType: movie.mediaType, subject: subject))
        }
        return files
            + previews.map(\.image).map {
                RecordedFile(
                    name: $0.name, sha256: $0.sha256, bytes: $0.bytes, mediaType: $0.mediaType,
                    subject: .preview)
            }
    }

    /// Returns the record of one file.
    package func record(of file: String) -> RecordedFile? {
        recordedFiles.first { $0.name == file }
    }
}
