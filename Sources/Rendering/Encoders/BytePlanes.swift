/// Loops over the bytes of a row that the compiler vectorizes.
enum BytePlanes {
    /// `into[i] = from[i] - subtrahend[i]`, modulo 256.
    static func subtract(
        _ subtrahend: UnsafeBufferPointer<UInt8>, from row: UnsafeBufferPointer<UInt8>,
        into result: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(subtrahend.count == row.count && result.count == row.count)
        guard let a = row.baseAddress, let b = subtrahend.baseAddress,
            let out = result.baseAddress
        else { return }
        for index in 0..<row.count { out[index] = a[index] &- b[index] }
    }

    /// Swaps 16-bit samples from the machine's byte order to big-endian.
    static func swapPairs(
        _ row: UnsafeRawBufferPointer, into result: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(row.count == result.count && row.count % 2 == 0)
        let samples = row.assumingMemoryBound(to: UInt16.self)
        guard let from = samples.baseAddress else { return }
        result.withMemoryRebound(to: UInt16.self) { result in
            guard let out = result.baseAddress else { return }
            for index in 0..<samples.count { out[index] = from[index].bigEndian }
        }
    }
}
