// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {UsdcSandbox} from "./UsdcSandbox.sol";

/// @title USDC of Base Sepolia: its name, which is part of the EIP-712 domain, is another than on the main networks.
contract UsdcTestnet is UsdcSandbox {
    function name() public pure override returns (string memory) {
        return "USDC";
    }
}
