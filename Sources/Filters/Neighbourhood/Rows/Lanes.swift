/// Four samples. Whole vectors only: taking single elements was five times slower.
public typealias Lanes = SIMD4<Float>

extension UnsafePointer<Float> {
    /// Four samples from one on; they need not be aligned.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        UnsafeRawPointer(self + index).loadUnaligned(as: Lanes.self)
    }
}

extension UnsafeMutablePointer<Float> {
    /// Four samples from one on; they need not be aligned.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        UnsafeRawPointer(self + index).loadUnaligned(as: Lanes.self)
    }

    /// Writes four samples from one on.
    @inlinable @inline(__always)
    public func setLanes(_ index: Int, _ value: Lanes) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Lanes.self)
    }
}
