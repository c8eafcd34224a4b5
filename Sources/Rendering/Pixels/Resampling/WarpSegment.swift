import Filters
import Glibc

/// Consecutive pixels of a result's row while they are resampled: their positions in the source, and the weights of the samples
/// that make them.
///
/// Numbers of one kind are contiguous, so that the compiler vectorizes the loops over them. All of them stay in the first-level
/// cache. One thread uses it at a time.
package final class WarpSegment {
    /// The most pixels.
    package static let length = 64

    /// By pixel: the whole column and row at or before its position.
    package let columns, rows: UnsafeMutablePointer<Int32>
    /// By pixel: the fraction of its position, 0 to 1.
    package let across, down: UnsafeMutablePointer<Float>
    /// By pixel: columns and rows of the source per column and row of the result, at least 1.
    package let stretchX, stretchY: UnsafeMutablePointer<Float>
    /// By tap and pixel: the weights of columns and of rows.
    package let columnWeights, rowWeights: UnsafeMutablePointer<Float>
    /// By pixel: four samples.
    package let results: UnsafeMutablePointer<Float>
    /// By pixel: the sums over rows of all samples of its columns, ``sumSize`` apart.
    package let sums: UnsafeMutablePointer<Float>
    /// Five columns of four channels.
    package static let sumSize = 20
    /// By pixel, for a picture in perspective: the reciprocal of its position's divisor.
    package let shares: UnsafeMutablePointer<Double>
    private let whole: UnsafeMutablePointer<Int32>
    private let numbers: UnsafeMutablePointer<Float>

    /// - Parameter taps: the most columns, or rows, that make a pixel.
    package init(taps: Int) {
        let length = Self.length
        whole = .allocate(capacity: 2 * length)
        (columns, rows) = (whole, whole + length)
        let count = length * (8 + 2 * taps + Self.sumSize)
        numbers = .allocate(capacity: count)
        numbers.initialize(repeating: 0, count: count)
        (across, down) = (numbers, numbers + length)
        (stretchX, stretchY) = (numbers + 2 * length, numbers + 3 * length)
        results = numbers + 4 * length
        columnWeights = numbers + 8 * length
        rowWeights = columnWeights + taps * length
        sums = rowWeights + taps * length
        shares = .allocate(capacity: length)
    }

    deinit {
        whole.deallocate()
        shares.deallocate()
        numbers.deallocate()
    }
}
