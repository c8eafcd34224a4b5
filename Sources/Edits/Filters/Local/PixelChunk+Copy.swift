import Edits

extension PixelChunk {
    /// Provides a copy of the pixels for the duration of the call.
    func withCopy(_ body: (PixelChunk) -> Void) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * count) { memory in
            guard let start = memory.baseAddress else { return }
            let planes = [red, green, blue, alpha]
            for (index, plane) in planes.enumerated() {
                (start + index * count).initialize(from: plane, count: count)
            }
            body(
                PixelChunk(
                    count: count, red: start, green: start + count, blue: start + 2 * count,
                    alpha: start + 3 * count, x: x, y: y))
        }
    }
}
