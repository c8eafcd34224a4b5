import Edits
import Files
import FoundationEssentials
import RenderProtocol

/// Splits a child's socket into requests, each with its files.
struct RequestReader {
    private let socket: DescriptorSocket
    private var buffer = Data()
    /// Received descriptors that belong to no request yet.
    private var descriptors: [Int32] = []
    private var hasEnded = false
    private static let readBytes = 65_536

    init(_ socket: DescriptorSocket) { self.socket = socket }

    /// Waits for the next request and returns it, or nil at the end.
    ///
    /// - Throws: ``BadRequest`` if worker and child have different versions.
    mutating func next() throws(BadRequest) -> (RenderRequest, RenderFiles)? {
        guard let line = try line() else { return nil }
        do {
            let request = try LineFormat.decode(RenderRequest.self, from: line)
            guard request.version == RenderRequest.version else {
                throw BadRequest(
                    "a request is of version \(request.version); this child speaks version "
                        + "\(RenderRequest.version)")
            }
            let count = min(request.files.count, descriptors.count)
            defer { descriptors.removeFirst(count) }
            return (request, try RenderFiles(request.files, Array(descriptors[..<count])))
        } catch let bad as BadRequest {
            throw bad
        } catch {
            throw BadRequest("a line is no request: \(error)")
        }
    }

    private mutating func line() throws(BadRequest) -> Data? {
        var searched = 0
        while true {
            let start = buffer.startIndex + searched
            if let newline = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[..<newline])
                buffer = Data(buffer[(newline + 1)...])
                return line
            }
            searched = buffer.count
            guard buffer.count <= LineFormat.lineBytesMax else {
                throw BadRequest("a line is longer than \(LineFormat.lineBytesMax) bytes")
            }
            if hasEnded { return nil }
            do {
                let (bytes, files) = try socket.receive(bytesMax: Self.readBytes)
                hasEnded = bytes.isEmpty
                buffer.append(contentsOf: bytes)
                descriptors += files
            } catch {
                throw BadRequest(error.message)
            }
        }
    }
}

/// A request that cannot come from a worker of this version.
struct BadRequest: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
