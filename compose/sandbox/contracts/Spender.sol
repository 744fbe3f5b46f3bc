// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Token {
    function transfer(address to, uint256 value) external;
    function transferFrom(address from, address to, uint256 value) external;
}

/// @title A contract that people approve: an exchange at a price of the buyer's choice, as long as it has the tokens.
/// @notice Its code is what the proxies of the scenes lead to as well.
contract Spender {
    /// @notice Takes one token from the sender and gives another.
    function swap(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut) external {
        Token(tokenIn).transferFrom(msg.sender, address(this), amountIn);
        Token(tokenOut).transfer(msg.sender, amountOut);
    }
}
