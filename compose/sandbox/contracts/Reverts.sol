// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A call of it fails, in the way that its name says.
contract Reverts {
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error NobodyKnowsThisError(uint256 number);

    function withError() external pure {
        revert("Reverts: with a reason");
    }

    function withPanic() external pure {
        assert(false);
    }

    function withOverflow(uint256 number) external pure returns (uint256) {
        return number + type(uint256).max;
    }

    function withCustomError() external view {
        revert ERC20InsufficientBalance(msg.sender, 1, 2);
    }

    function withUnknownError() external pure {
        revert NobodyKnowsThisError(7);
    }

    function withNothing() external pure {
        assembly {
            revert(0, 0)
        }
    }

    /// @notice All the gas that the call has.
    function withAllGas() external pure {
        assembly {
            invalid()
        }
    }

    /// @notice Bytes that are no error of Solidity's.
    function withGarbage() external pure {
        assembly {
            mstore(0, "garbage")
            revert(0, 7)
        }
    }

    receive() external payable {
        revert("Reverts: takes no ether");
    }
}
