import CHiredis
import NIOCore

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
