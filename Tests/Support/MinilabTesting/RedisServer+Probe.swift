import Foundation

extension RedisServer {
    /// Returns a port of 127.0.0.1 that is free at this moment.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0
                    ? getsockname(descriptor, address, &size) : -1
            }
        }
        guard code == 0 else {
            throw TestingFailure("no free port: \(String(cString: strerror(errno)))")
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Returns whether the server at the Unix socket answers PING and has read its file, or answers with a request for another
    /// password.
    func answers() -> Bool {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))

        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = folder.file("redis.sock")
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            precondition(path.utf8.count < bytes.count, "the temporary folder's path is too long")
            bytes.copyBytes(from: path.utf8)
        }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else { return false }
        // Redis asks for a login before it says that it still reads its file.
        let login = admin.map { "AUTH \($0.rawValue) \($0.password)\r\n" } ?? ""
        let ping = login + "PING\r\n"
        send(descriptor, ping, ping.utf8.count, CInt(MSG_NOSIGNAL))
        var text = ""
        while text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) < (login.isEmpty ? 1 : 2) {
            var answer = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &answer, answer.count, 0)
            guard count > 0 else { return false }
            text += String(decoding: answer.prefix(count), as: UTF8.self)
        }
        return text.contains("+PONG") || text.hasPrefix("-NOAUTH") || text.hasPrefix("-WRONGPASS")
    }
}
