// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A token of 2017: its name and symbol are bytes32, as MKR's are, and what it does returns nothing, as with BNB.
/// @dev Made to be placed: no constructor; balances are put into its storage.
contract OldToken {
    bytes32 public constant name = "Old Token";
    bytes32 public constant symbol = "OLD";
    uint256 public constant decimals = 18;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function transfer(address to, uint256 value) external {
        _transfer(msg.sender, to, value);
    }

    function approve(address spender, uint256 value) external {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(value <= allowance[from][msg.sender]);
        allowance[from][msg.sender] -= value;
        _transfer(from, to, value);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(value <= balanceOf[from]);
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
