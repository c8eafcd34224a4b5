/// Four samples. Whole vectors only: taking single elements was five times slower.
public typealias Lanes = SIMD4<Float>

/// Eight samples: a register where there is AVX, two elsewhere. As ``Lanes``, whole ones only.
public typealias Octet = SIMD8<Float>

extension UnsafePointer<Float> {
    /// Eight samples from one on; they need not be aligned.
    @inlinable @inline(__always)
    public func octet(_ index: Int) -> Octet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Octet.self)
    }

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

    /// Writes eight samples from one on.
    @inlinable @inline(__always)
    public func setOctet(_ index: Int, _ value: Octet) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Octet.self)
    }

    /// Writes four samples from one on.
    @inlinable @inline(__always)
    public func setLanes(_ index: Int, _ value: Lanes) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Lanes.self)
    }
}
