import CHiredis
import NIOCore

/// Decodes the bytes of one connection into replies, with hiredis's reply reader.
///
/// The bytes may be split anywhere. The decoder accepts RESP 2 alone, and refuses the rest itself: hiredis from 1.0 on reads
/// RESP 3, too, and nests as deep as memory lasts. After an error the decoder and its connection are unusable, because the
/// beginning of the next reply is unknown.
struct RESPDecoder: ~Copyable {
    /// The maximum number of elements of one array; hiredis allocates them all when it has read the length.
    static let arrayElementsMax = 1_000_000
    /// The maximum number of arrays in one another, which is that of a reply to COMMAND and of hiredis 0.14: hiredis frees them, and ``copy(_:)`` copies them, by recursion.
    static let arraysNestedMax = 8

    private let reader: UnsafeMutablePointer<redisReader>
    private let replyBytesMax: Int
    /// The number of bytes fed since the end of the last complete reply.
    private var unfinishedBytes = 0
    /// The error of a reply that hiredis took and this decoder did not; hiredis keeps its own errors.
    private var refusal: RedisError?

    init(replyBytesMax: Int) {
        guard let reader = redisReaderCreate() else {
            preconditionFailure("hiredis found no memory for a reply reader")
        }
        reader.pointee.fn = ReplyFunctions.limited
        self.reader = reader
        self.replyBytesMax = replyBytesMax
    }

    deinit {
        redisReaderFree(reader)
    }

    /// Feeds the next bytes of the connection; hiredis copies them.
    mutating func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
        unfinishedBytes += bytes.count
        let address = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard redisReaderFeed(reader, address, bytes.count) == REDIS_OK else { throw failure() }
    }

    /// Returns the next complete reply, or nil if more bytes are needed.
    mutating func next() throws(RedisError) -> RedisReply? {
        if let refusal { throw refusal }
        var object: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &object) == REDIS_OK else { throw failure() }
        guard let object else {
            guard unfinishedBytes <= replyBytesMax else {
                throw RedisError(
                    .protocolViolation,
                    "Redis sent a reply of more than \(replyBytesMax) bytes: ask for less at a "
                        + "time, or raise the limit on replies.",
                    mayHaveExecuted: true)
            }
            return nil
        }
        defer { freeReplyObject(object) }
        unfinishedBytes = reader.pointee.len - reader.pointee.pos
        do throws(RedisError) {
            return try Self.copy(object.assumingMemoryBound(to: redisReply.self))
        } catch {
            refusal = error
            throw error
        }
    }

    private static func copy(
        _ object: UnsafePointer<redisReply>
    ) throws(RedisError) -> RedisReply {
        let reply = object.pointee
        switch reply.type {
        case REDIS_REPLY_NIL: return .null
        case REDIS_REPLY_INTEGER: return .integer(reply.integer)
        case REDIS_REPLY_ARRAY:
            return .array(
                try UnsafeBufferPointer(start: reply.element, count: reply.elements).map {
                    element throws(RedisError) in
                    // A complete reply has all its elements; the reader itself filled them in.
                    try copy(element!)
                })
        case REDIS_REPLY_STRING:
            return .bulk(Array(UnsafeRawBufferPointer(start: reply.str, count: reply.len)))
        case REDIS_REPLY_STATUS: return .status(text(of: reply))
        case REDIS_REPLY_ERROR: return .error(RedisServerError(text(of: reply)))
        default: throw notRESP2("a type of RESP 3, number \(reply.type) in hiredis")
        }
    }

    private static func text(of reply: redisReply) -> String {
        String(decoding: UnsafeRawBufferPointer(start: reply.str, count: reply.len), as: UTF8.self)
    }

    private func failure() -> RedisError {
        if reader.pointee.err == REDIS_ERR_OOM {
            return Self.notRESP2(
                "an array of more than \(Self.arrayElementsMax) elements, more than "
                    + "\(Self.arraysNestedMax) arrays in one another, a type of RESP 3, or no memory is left"
            )
        }
        return Self.notRESP2(
            withUnsafeBytes(of: reader.pointee.errstr) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            })
    }

    private static func notRESP2(_ why: String) -> RedisError {
        RedisError(
            .protocolViolation,
            "The server's bytes are not a RESP 2 reply (\(why)): check that a Redis server listens "
                + "at this address.",
            mayHaveExecuted: true)
    }
}

/// The functions with which the reader creates its objects: hiredis's own, except for what must not come to be at all.
///
/// An object of nil stops the reader with `REDIS_ERR_OOM`. Other types of RESP 3 are found in the complete reply: the functions
/// for them exist only where hiredis reads them.
private enum ReplyFunctions {
    static let original = {
        let reader = redisReaderCreate()!
        defer { redisReaderFree(reader) }
        return reader.pointee.fn.pointee
    }()

    // Written here, before any reader uses it, and only read afterwards.
    nonisolated(unsafe) static let limited = {
        let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        functions.initialize(to: original)
        functions.pointee.createArray = { task, count in
            guard count <= RESPDecoder.arrayElementsMax, let task,
                task.pointee.type == REDIS_REPLY_ARRAY,
                ReplyFunctions.arrays(around: task) < RESPDecoder.arraysNestedMax
            else { return nil }
            return ReplyFunctions.original.createArray(task, count)
        }
        // RESP 2 has a string or an array of length -1; the reader says "nil" only of RESP 3's own.
        functions.pointee.createNil = { task in
            guard task?.pointee.type != REDIS_REPLY_NIL else { return nil }
            return ReplyFunctions.original.createNil(task)
        }
        return functions
    }()

    private static func arrays(around task: UnsafePointer<redisReadTask>) -> Int {
        var count = 0
        var around = task.pointee.parent
        while let array = around {
            count += 1
            around = array.pointee.parent
        }
        return count
    }
}

/// Encodes commands as RESP arrays of bulk strings, with hiredis.
///
/// It reuses its working memory, so that a command costs one allocation (hiredis's own).
struct RESPEncoder {
    /// The maximum size of working memory kept after a large command, in bytes.
    static let scratchBytesMax = 64 << 10

    private var scratch: [UInt8] = []
    private var lengths: [Int] = []
    private var pointers: [UnsafePointer<CChar>?] = []

    /// Appends the encoded command to `buffer`.
    ///
    /// The caller ensures that `arguments` is not empty and, because hiredis counts in `int`, well below 2 GiB;
    /// ``RedisConfiguration/commandBytesMax`` enforces it.
    mutating func encode(_ arguments: [RedisArgument], into buffer: inout ByteBuffer) {
        precondition(!arguments.isEmpty, "a command has at least its name")
        scratch.removeAll(keepingCapacity: scratch.capacity <= Self.scratchBytesMax)
        lengths.removeAll(keepingCapacity: true)
        for argument in arguments {
            let start = scratch.count
            switch argument.value {
            case .text(let text): scratch.append(contentsOf: text.utf8)
            case .number(let number): scratch.append(contentsOf: String(number).utf8)
            case .bytes(let bytes): scratch.append(contentsOf: bytes)
            }
            lengths.append(scratch.count - start)
        }
        scratch.append(0)  // a byte, so that it has an address even if all arguments are empty

        scratch.withUnsafeBytes { bytes in
            pointers.removeAll(keepingCapacity: true)
            var next = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            for length in lengths {
                pointers.append(next)
                next = next?.advanced(by: length)
            }
            var command: UnsafeMutablePointer<CChar>?
            let count = redisFormatCommandArgv(
                &command, Int32(lengths.count), &pointers, lengths)
            precondition(count > 0, "hiredis found no memory for a command")
            // hiredis copied the arguments, so no pointer into `scratch` outlives this closure.
            buffer.writeBytes(UnsafeRawBufferPointer(start: command, count: Int(count)))
            redisFreeCommand(command)
        }
    }
}

/// One word of a command: text, a number or any bytes.
public struct RedisArgument: Sendable, Hashable {
    enum Value: Sendable, Hashable {
        case text(String)
        case number(Int64)
        case bytes([UInt8])
    }

    let value: Value

    public init(_ text: String) {
        value = .text(text)
    }

    public init(_ number: Int) {
        value = .number(Int64(number))
    }

    public init(_ bytes: [UInt8]) {
        value = .bytes(bytes)
    }

    /// The maximum number of bytes that this argument needs; exact except for numbers.
    var bytesMax: Int {
        switch value {
        case .text(let text): text.utf8.count
        case .number: 20
        case .bytes(let bytes): bytes.count
        }
    }

    /// The argument as text for messages, which only name the command itself.
    var text: String {
        switch value {
        case .text(let text): text
        case .number(let number): String(number)
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension RedisArgument: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }

    public init(integerLiteral value: Int) {
        self.init(value)
    }
}
