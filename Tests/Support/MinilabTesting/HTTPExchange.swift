import Foundation

/// One request to a server on 127.0.0.1, as bytes, and the complete response until the server closes the connection.
public enum HTTPExchange {
    /// The longest wait for a part of the response.
    static let partSecondsMax = 30

    /// A response.
    public struct Answer: Sendable {
        /// The complete text.
        public let text: String

        /// The status of the first line; nil if there is none.
        public var status: Int? {
            text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) }
        }
        /// The text after the headers.
        public var body: String {
            text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
        }
    }

    /// Requests a page, and asks for the connection's end after it: a gateway keeps connections open otherwise.
    public static func get(
        _ path: String, port: Int, method: String = "GET"
    ) async throws -> Answer {
        try await send(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", port: port
        )
    }

    /// Sends any bytes, and reads the response.
    ///
    /// - Parameter isEnding: Whether to close the write side after the request.
    public static func send(
        _ request: String, port: Int, ending isEnding: Bool = false
    ) async throws -> Answer {
        let connection = try TCPConnection(port: port)
        connection.send(request)
        if isEnding { connection.finish() }
        // Reading blocks, so it has a thread of its own. The pool that runs tests and the server under test share
        // Dispatch's threads, and two blocking readers would stall both.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { Answer(text: try connection.readToEnd()) })
            }
        }
    }
}

/// A connection to a server on 127.0.0.1.
public final class TCPConnection: Sendable {
    private let descriptor: CInt

    /// Connects to a port.
    public init(port: Int) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: HTTPExchange.partSecondsMax, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            let reason = String(cString: strerror(errno))
            // All properties are set, so deinit closes the descriptor, once.
            throw TestingFailure("127.0.0.1:\(port) cannot be reached: \(reason)")
        }
    }

    deinit { close(descriptor) }

    /// Sends bytes. A closed connection is detected only by reading.
    public func send(_ text: String) { send(bytes: Array(text.utf8)) }

    /// Sends bytes, and waits while the peer accepts none.
    ///
    /// - Returns: whether the peer accepted all of them.
    @discardableResult
    public func send(bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads up to and including a text, and no byte more. Stops if the peer closes, or sends far more than a test
    /// expects.
    public func read(until end: String) throws -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < 64 << 10, !bytes.suffix(end.utf8.count).elementsEqual(end.utf8) {
            let count = recv(descriptor, &byte, 1, 0)
            guard count > 0 else { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Closes the write side; the peer can still respond.
    public func finish() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Reads until the peer closes the connection.
    public func readToEnd() throws -> String {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &part, part.count, 0)
            guard count >= 0 else {
                // A peer that closes with unread bytes of ours resets the connection, which also ends the response.
                if errno == ECONNRESET { break }
                throw TestingFailure(
                    "no answer within \(HTTPExchange.partSecondsMax) s: "
                        + String(cString: strerror(errno)))
            }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
