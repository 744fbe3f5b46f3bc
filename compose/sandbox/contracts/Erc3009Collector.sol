// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IERC3009 {
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external;
    function transfer(address to, uint256 value) external returns (bool);
}

/// @title Takes deposits that are signed as EIP-3009 authorizations, as the sandbox needs it.
/// @notice The nonce names the channel, so a deposit can go nowhere else. Only the settlement contract may call it.
/// @dev Made to be placed at the canonical address, as UsdcSandbox is.
contract Erc3009Collector {
    address public constant x402BatchSettlement = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;

    error OnlySettlement();

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        if (msg.sender != x402BatchSettlement) revert OnlySettlement();
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) =
            abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        IERC3009(token).receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
        IERC3009(token).transfer(msg.sender, amount);
    }
}
