/// Four samples. Access whole vectors only: access to single elements was five times slower.
public typealias Quartet = SIMD4<Float>

/// Eight samples: one register with AVX, otherwise two. As for ``Quartet``, access whole vectors only.
public typealias Octet = SIMD8<Float>

extension UnsafePointer<Float> {
    /// Loads eight samples from an address, which need not be aligned.
    @inlinable @inline(__always)
    public func octet(_ index: Int) -> Octet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Octet.self)
    }

    /// Loads four samples from an address, which need not be aligned.
    @inlinable @inline(__always)
    public func quartet(_ index: Int) -> Quartet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Quartet.self)
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
    public func quartet(_ index: Int) -> Quartet {
        UnsafeRawPointer(self + index).loadUnaligned(as: Quartet.self)
    }

    /// Stores eight samples at an address.
    @inlinable @inline(__always)
    public func setOctet(_ index: Int, _ value: Octet) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Octet.self)
    }

    /// Stores four samples at an address.
    @inlinable @inline(__always)
    public func setQuartet(_ index: Int, _ value: Quartet) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Quartet.self)
    }
}
