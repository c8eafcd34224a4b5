/// Four samples. Access whole vectors only: access to single elements was five times slower.
public typealias Lanes = SIMD4<Float>

/// Eight samples: one register with AVX, otherwise two. As for ``Lanes``, access whole vectors only.
public typealias Octet = SIMD8<Float>

extension UnsafePointer<Float> {
    /// Loads eight samples from an address, which need not be aligned.
    @inlinable @inline(__always)
    public func octet(_ index: Int) -> Octet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Octet.self)
    }

    /// Loads four samples from an address, which need not be aligned.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        UnsafeRawPointer(self + index).loadUnaligned(as: Lanes.self)
    }
}

extension UnsafeMutablePointer<Float> {
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

    /// Stores eight samples at an address.
    @inlinable @inline(__always)
    public func setOctet(_ index: Int, _ value: Octet) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Octet.self)
    }

    /// Stores four samples at an address.
    @inlinable @inline(__always)
    public func setLanes(_ index: Int, _ value: Lanes) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Lanes.self)
    }
}
