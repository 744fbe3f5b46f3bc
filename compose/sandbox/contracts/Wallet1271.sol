// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A smart wallet with one owner, as small as ERC-1271 allows.
/// @notice A signature is `abi.encode(uint256 ownerIndex, bytes ecdsa)`, the wrapping of Base's most common smart wallet:
///         index 0 is the only owner, `ecdsa` is r, s, v packed over the very digest that is asked about. Real wallets hash
///         the digest together with their own address first, so that one signature cannot serve two wallets of one owner;
///         this one does not.
///
///         The wrapping matters to the tests: the owner's bare 65 bytes are not a signature of the wallet, so a facilitator
///         that passes them on as v, r, s must fail.
contract Wallet1271 {
    address public owner;

    constructor(address owner_) {
        owner = owner_;
    }

    /// @notice ERC-1271. Reverts on anything that is not a wrapped signature; a caller must read that as a refusal.
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        (uint256 ownerIndex, bytes memory ecdsa) = abi.decode(signature, (uint256, bytes));
        if (ownerIndex != 0 || ecdsa.length != 65) return 0xffffffff;
        bytes32 r;
        bytes32 s;
        assembly ("memory-safe") {
            r := mload(add(ecdsa, 0x20))
            s := mload(add(ecdsa, 0x40))
        }
        address signer = ecrecover(digest, uint8(ecdsa[64]), r, s);
        return signer != address(0) && signer == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
